"""Publishing the messages of a request that the services have not seen yet."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from services.gateway.reading.request import Request
from shared.contracts.base import Contract
from shared.contracts.events import MessagesRecorded, RecordedMessage
from shared.conversation.message import stored_role

EVENT_CHARS = 256 * 1024
REMEMBERED = 500_000
"""Addresses in memory, at some 100 bytes each."""


class Bus(Protocol):
    async def publish_many(self, events: Iterable[Contract]) -> None: ...


class Publisher:
    """Remembers what it published, so that a client that rewrites its history costs the bus nothing.

    Such a client has no tip to go on: every request looks new. What is forgotten, or was published by
    another gateway, is published again; content makes the ids, so it is stored and embedded once.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._young: set[tuple[str, bytes]] = set()
        self._old: set[tuple[str, bytes]] = set()

    async def publish(
        self, request: Request, session: str, positions: Iterable[int], at: float
    ) -> frozenset[int]:
        """Those of the positions that were not published yet; tells which."""
        names = {(request.reader.tenant, request.shape.addresses[p]): p for p in positions}
        new = {name: p for name, p in names.items() if name not in self._young and name not in self._old}
        await self.republish(request, session, new.values(), at)
        self._young.update(new)
        if len(self._young) > REMEMBERED // 2:
            self._old, self._young = self._young, set()
        return frozenset(new.values())

    async def republish(self, request: Request, session: str, positions: Iterable[int], at: float) -> None:
        """All of the positions: the store says that it lacks them."""
        tenant = request.reader.tenant
        await self._bus.publish_many(
            MessagesRecorded(tenant=tenant, session=session, at=at, messages=batch)
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
