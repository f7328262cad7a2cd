"""Messages with terms -> the same with vectors."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeVar

from services.embedder.batch import distinct
from services.embedder.embed import Embedding
from shared.bus import Delivery
from shared.contracts.events import ChunksCreated
from shared.models.port import Vector
from shared.store.port import ChunkStore, IndexedMessage

T = TypeVar("T")
GROUP_CHUNKS = 64
"""Chunks that are embedded before they are stored: what a crash embeds twice."""


class Item(NamedTuple):
    delivery: Delivery[ChunksCreated]
    message: IndexedMessage


def groups(items: Iterable[T], chunks: Callable[[T], int]) -> Iterator[list[T]]:
    """In order, of about `GROUP_CHUNKS` chunks; the chunks of an item stay together."""
    pending: list[T] = []
    size = 0
    for item in items:
        more = chunks(item)
        if pending and size + more > GROUP_CHUNKS:
            yield pending
            pending, size = [], 0
        pending.append(item)
        size += more
    if pending:
        yield pending


async def vectors_of(
    tenant: str, messages: Iterable[IndexedMessage], store: ChunkStore, embedding: Embedding
) -> dict[str, Vector]:
    """By digest, those of texts that cannot be embedded missing; a text that the tenant has a vector of is
    not embedded again."""
    texts = distinct([chunk for message in messages for chunk in message.chunks])
    unmade = [text.digest for text in texts if text.digest not in embedding.vectors]
    stored = await store.vectors_by_digest(tenant, unmade) if unmade else {}
    await embedding.embed([text for text in texts if text.digest not in stored])
    return stored | embedding.vectors


def with_vectors(message: IndexedMessage, vectors: Mapping[str, Vector]) -> IndexedMessage:
    return replace(message, vectors=tuple(vectors.get(chunk.digest) for chunk in message.chunks))
