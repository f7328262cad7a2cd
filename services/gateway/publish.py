"""Publishing the messages of a request that the services have not seen yet."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from services.gateway.request import Request
from shared.contracts.base import Contract
from shared.contracts.events import MessagesRecorded, RecordedMessage
from shared.conversation.message import stored_role

EVENT_CHARS = 256 * 1024


class Publisher(Protocol):
    async def publish_many(self, events: Iterable[Contract]) -> None: ...


async def publish(
    bus: Publisher, request: Request, session: str, positions: Iterable[int], at: float
) -> None:
    """Content makes the ids, so what is published twice is stored and embedded once."""
    await bus.publish_many(
        MessagesRecorded(tenant=request.reader.tenant, session=session, at=at, messages=batch)
        for batch in _batches(request, positions)
    )


def _batches(request: Request, positions: Iterable[int]) -> Iterator[tuple[RecordedMessage, ...]]:
    batch: list[RecordedMessage] = []
    size = 0
    for position in positions:
        message = RecordedMessage(
            address=request.shape.addresses[position].hex(),
            role=stored_role(request.message(position)),
            units=request.units(position),
        )
        length = sum(len(u.text) for u in message.units)
        if batch and size + length > EVENT_CHARS:
            yield tuple(batch)
            batch, size = [], 0
        batch.append(message)
        size += length
    if batch:
        yield tuple(batch)
