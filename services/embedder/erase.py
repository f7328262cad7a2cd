"""`Erase` in: a session goes for good, from the streams, the state and the store (ADR 0017)."""

from collections.abc import Callable

import structlog

from shared.bus import Bus
from shared.bus.subjects import CHUNKS, DEADLETTERS, MESSAGES, RECORDS
from shared.contracts.events import ChunksCreated
from shared.contracts.rpc import Erase, Receipt
from shared.conversation.address import address_key
from shared.store.port import ChunkStore
from shared.telemetry import ERASED_SESSIONS

log = structlog.get_logger(__name__)


class Erasing:
    """Repeating is harmless: a second erasure finds what the first one left."""

    def __init__(self, bus: Bus, store: ChunkStore, clock: Callable[[], float]) -> None:
        self._bus = bus
        self._store = store
        self._clock = clock

    async def erase(self, request: Erase) -> Receipt:
        """The era first: from then on nothing that was said before it is written, or it is undone."""
        tenant, session, at = request.tenant, request.session, self._clock()
        era = await self._bus.erased.erase(tenant, session, at)
        swept = await self._bus.sweeper.sweep(tenant, session, era)
        gone = await self._store.forget(tenant, session, era)
        if gone.messages:
            await self._store.compact()
        receipt = Receipt(
            tenant=tenant,
            session=session,
            era=era,
            at=at,
            message_events=swept.streams[MESSAGES],
            chunk_events=swept.streams[CHUNKS],
            records=swept.streams[RECORDS],
            dead_letters=swept.streams[DEADLETTERS],
            claims=swept.claims,
            tips=swept.tips,
            texts=gone.messages,
            chunks=gone.chunks,
            kept=gone.kept,
        )
        ERASED_SESSIONS.inc()
        log.info("session_erased", **receipt.model_dump(exclude={"tenant", "session", "at"}))
        return receipt

    async def forget(self, event: ChunksCreated, era: int) -> None:
        """What writing an event of an erased session may have left."""
        late = [address_key(bytes.fromhex(message.address)) for message in event.messages]
        gone = await self._store.forget(event.tenant, event.session, era, late)
        if gone.messages:
            await self._store.compact()
