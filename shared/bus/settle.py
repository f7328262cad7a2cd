"""How a message ends: acknowledged, handed back, or given up with a dead letter."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import nats.errors
import structlog
from nats.aio.msg import Msg
from opentelemetry.context import Context

from shared.bus.codec import to_json
from shared.bus.subjects import Durable
from shared.contracts.events import DeadLetter, OfSession
from shared.errors import BackscrollError
from shared.telemetry import DEAD_LETTERS, REDELIVERIES

log = structlog.get_logger(__name__)

FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 60.0
TRIES = 5
"""Deliveries of a message that fails for an unknown reason. A bug may be gone with the next replica."""
LONGEST_REASON = 200

E = TypeVar("E", bound=OfSession)
E_co = TypeVar("E_co", bound=OfSession, covariant=True)


@dataclass(frozen=True)
class Delivery(Generic[E_co]):
    """An event as it was delivered. `deliveries` counts from 1."""

    event: E_co
    stream: str
    sequence: int
    deliveries: int
    trace: Context = field(default_factory=Context, compare=False, repr=False)
    """Of the one who published it."""


@dataclass(frozen=True)
class Faulty:
    """One item of an event that can never succeed. `item` is its JSON."""

    delivery: Delivery[OfSession]
    item: str
    reason: str


@dataclass(frozen=True)
class HandBack:
    delay_s: float


@dataclass(frozen=True)
class GiveUp:
    reason: str


def retry_delay(deliveries: int) -> float:
    """Doubling from `FIRST_DELAY_S`: consumer back-off does not apply to a negative acknowledgement."""
    return float(min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** min(deliveries - 1, 16)))


def outcome(error: Exception, deliveries: int) -> HandBack | GiveUp:
    """A retryable error never ends a message, however often it was delivered."""
    if isinstance(error, BackscrollError):
        if error.retryable:
            return HandBack(retry_delay(deliveries))
        return GiveUp(f"{error.code}: {error}"[:LONGEST_REASON])
    if deliveries < TRIES:
        return HandBack(retry_delay(deliveries))
    # The text of an unknown error may hold content; its type does not.
    return GiveUp(f"{type(error).__name__}, {deliveries} deliveries")


class InFlight(Generic[E]):
    """The messages of one fetch that are not settled yet, and the only way to settle them."""

    def __init__(
        self,
        messages: list[Msg],
        durable: Durable[E],
        service: str,
        bury: Callable[[str, DeadLetter], Awaitable[None]],
    ) -> None:
        self._open = {m.metadata.sequence.stream: m for m in messages}
        self._durable = durable
        self._service = service
        self._bury = bury

    @property
    def messages(self) -> list[Msg]:
        return list(self._open.values())

    async def ack(self, sequence: int) -> None:
        await self._open.pop(sequence).ack()

    async def hand_back(self, sequence: int, delay_s: float) -> None:
        REDELIVERIES.labels(self._durable.name).inc()
        await self._open.pop(sequence).nak(delay=delay_s)

    def headers(self, sequence: int) -> Mapping[str, str]:
        return self._open[sequence].headers or {}

    async def give_up(self, sequence: int, reason: str, event: OfSession | None) -> None:
        """Dead letter first: a crash in between repeats it under the same id instead of losing it."""
        message = self._open[sequence]
        await self._letter(message, reason, to_json(event).decode() if event else "", event)
        del self._open[sequence]
        line = " ".join(reason.split()).encode("ascii", "replace")
        await message._client.publish(message.reply, b"+TERM " + line)

    async def give_up_item(self, faulty: Faulty) -> None:
        message = self._open[faulty.delivery.sequence]
        await self._letter(message, faulty.reason, faulty.item, faulty.delivery.event)

    async def heartbeat(self) -> None:
        for message in self.messages:
            await message.in_progress()

    async def _letter(self, message: Msg, reason: str, item: str, event: OfSession | None) -> None:
        sequence = message.metadata.sequence.stream
        of = {"tenant": event.tenant, "session": event.session, "era": event.era} if event else {}
        letter = DeadLetter(
            **of,
            stream=self._durable.stream,
            sequence=sequence,
            service=self._service,
            reason=reason,
            at=time.time(),
            item=item,
        )
        await self._bury(message.subject, letter)
        DEAD_LETTERS.labels(self._service).inc()
        log.error("dead_letter", stream=letter.stream, sequence=sequence, reason=reason)


@contextlib.asynccontextmanager
async def beating(flight: InFlight[E], every_s: float) -> AsyncIterator[None]:
    """Tell the server that the open messages are being worked on, three times within `ack_wait`."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(every_s)
            try:
                await flight.heartbeat()
            except (nats.errors.Error, OSError) as error:
                log.warning("heartbeat_failed", error=type(error).__name__)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
