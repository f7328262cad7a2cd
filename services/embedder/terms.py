"""`ChunksCreated` -> texts with their terms: findable before they have vectors (ADR 0003)."""

from collections.abc import Iterable

from shared.contracts.events import ChunkedMessage, ChunksCreated
from shared.store.port import IndexedMessage, Origin
from shared.text.terms import document_terms


def origin(event: ChunksCreated) -> Origin:
    return Origin(event.tenant, event.session, event.at, event.era)


def with_terms(messages: Iterable[ChunkedMessage]) -> list[IndexedMessage]:
    """Every message, those without chunks too: each gets its marker."""
    return [
        IndexedMessage(
            address=message.address,
            chunks=message.chunks,
            terms=tuple(document_terms(chunk.text) for chunk in message.chunks),
        )
        for message in messages
    ]
