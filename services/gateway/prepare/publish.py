"""Publishing the messages of a request that the services have not seen yet."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from services.gateway.reading.request import Request
from shared.contracts.events import MessagesRecorded, OfSession, RecordedMessage
from shared.conversation.message import stored_role

EVENT_CHARS = 256 * 1024
REMEMBERED = 500_000
"""Addresses in memory, at some 150 bytes each."""
SESSIONS = 8
"""Sessions that a text is published for: a client that names each request anew would publish its history with
each. What is erased with the last of them is published again by who still says it."""

Said = tuple[str, int]
"""Session and era."""


class Bus(Protocol):
    async def publish_many(self, events: Iterable[OfSession]) -> None: ...


class Publisher:
    """Remembers what it published, so that a client that rewrites its history costs the bus nothing.

    Such a client has no tip to go on: every request looks new. What is forgotten, or was published by
    another gateway, is published again; content makes the ids, so it is stored and embedded once. What
    another session says too is published for it too: whoever is erased, the other's stays.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._young: dict[tuple[str, bytes], tuple[Said, ...]] = {}
        self._old: dict[tuple[str, bytes], tuple[Said, ...]] = {}

    async def publish(
        self, request: Request, said: Said, positions: Iterable[int], at: float
    ) -> frozenset[int]:
        """Those of the positions that were not published for this session yet; tells which."""
        names = {(request.reader.tenant, request.shape.addresses[p]): p for p in positions}
        new = {name: p for name, p in names.items() if self._is_new(self._published(name), said)}
        await self.republish(request, said, new.values(), at)
        # One tuple for all that were published for the same sessions.
        longer = {known: (*known, said) for known in {self._published(name) for name in new}}
        self._young.update({name: longer[self._published(name)] for name in new})
        if len(self._young) > REMEMBERED // 2:
            self._old, self._young = self._young, {}
        return frozenset(new.values())

    def _published(self, name: tuple[str, bytes]) -> tuple[Said, ...]:
        return self._young.get(name) or self._old.get(name) or ()

    def _is_new(self, known: tuple[Said, ...], said: Said) -> bool:
        return said not in known and len(known) < SESSIONS

    async def republish(self, request: Request, said: Said, positions: Iterable[int], at: float) -> None:
        """All of the positions: the store says that it lacks them."""
        tenant, (session, era) = request.reader.tenant, said
        await self._bus.publish_many(
            MessagesRecorded(tenant=tenant, session=session, era=era, at=at, messages=batch)
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
