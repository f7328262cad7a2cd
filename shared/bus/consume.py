"""The pull consumer of a durable: fetch a batch, keep it alive, handle it, settle every message.

It stands on nats-py rather than on a FastStream subscriber, which gives its handler one message at a
time (or, with `batch=True`, fails a whole batch for one bad body), while holding and bisecting need the
batch. And FastStream 0.7.8, stopped, leaves what it has fetched to wait out `ack_wait`.
"""

import asyncio
import contextlib
import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, TypeVar

import nats.errors
import structlog
import tenacity
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from shared.bus.claims import Claims
from shared.bus.codec import decode
from shared.bus.erased import Erased
from shared.bus.settle import Delivery, Faulty, HandBack, InFlight, beating, outcome, retry_delay
from shared.bus.subjects import Durable
from shared.bus.sweep import Sweeper
from shared.contracts.events import DeadLetter, OfSession
from shared.errors import DependencyUnavailable
from shared.telemetry import BATCH_MESSAGES, ERASED_DROPPED, HOLDS, PENDING
from shared.tracing import continued

log = structlog.get_logger(__name__)

FETCH_S = 1.0
LONGEST_HOLD_S = 30.0

E = TypeVar("E", bound=OfSession)
T = TypeVar("T")
Handler = Callable[[list[Delivery[E]]], Awaitable[Sequence[Faulty] | None]]
Bury = Callable[[str, DeadLetter], Awaitable[None]]
Forget = Callable[[E, int], Awaitable[None]]
"""Undo what handling an event of an erased session may have done; with the session's era."""


class Consumer(Generic[E]):
    def __init__(
        self,
        js: JetStreamContext,
        durable: Durable[E],
        handler: Handler[E],
        *,
        service: str,
        claims: Claims,
        bury: Bury,
        erased: Erased,
        sweeper: Sweeper,
        forget: Forget[E] | None,
        max_messages: int,
        flush_ms: float,
    ) -> None:
        self._js = js
        self._durable = durable
        self._handler = handler
        self._service = service
        self._claims = claims
        self._bury = bury
        self._erased = erased
        self._sweeper = sweeper
        self._forget = forget
        self._max_messages = max_messages
        self._flush_s = flush_ms / 1000
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """A running handler finishes; what it has not been given goes back at once."""
        self._stopping.set()

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    async def bind(self) -> None:
        """Raises `nats.js.errors.NotFoundError` where the durable does not exist."""
        info = await self._js.consumer_info(self._durable.stream, self._durable.name)
        self._every_s = float(info.config.ack_wait or 30) / 3
        self._subscription = await self._js.pull_subscribe_bind(
            durable=self._durable.name, stream=self._durable.stream
        )

    async def run(self) -> None:
        """Until `stop`; after `bind`."""
        try:
            while not self.stopping:
                if messages := await self._fetch():
                    flight = InFlight(messages, self._durable, self._service, self._bury)
                    async with beating(flight, self._every_s):
                        await self._handle(flight)
        finally:
            with contextlib.suppress(nats.errors.Error):
                await self._subscription.unsubscribe()

    async def _fetch(self) -> list[Msg]:
        """A first message, however long it takes, and what else comes within `flush_ms`.

        One fetch of many would wait for a second message: at one every 30 ms it delivered them in
        pairs, p99 169 ms.
        """
        messages = await self._fetch_once(1, FETCH_S)
        if messages and self._max_messages > 1:
            messages += await self._fetch_once(self._max_messages - 1, self._flush_s)
        if messages:
            BATCH_MESSAGES.labels(self._durable.name).observe(len(messages))
            PENDING.labels(self._durable.name).set(messages[-1].metadata.num_pending)
        return messages

    async def _fetch_once(self, count: int, timeout_s: float) -> list[Msg]:
        try:
            return list(await self._subscription.fetch(count, timeout=timeout_s))
        except TimeoutError:
            return []
        except (nats.errors.Error, OSError) as error:
            log.warning("fetch_failed", durable=self._durable.name, error=type(error).__name__)
            await self._pause(FETCH_S)
            return []

    async def _handle(self, flight: InFlight[E]) -> None:
        try:
            if self.stopping:
                raise DependencyUnavailable("bus_unavailable", "stopped before the batch began")
            deliveries = [d for m in flight.messages if (d := await self._read(flight, m)) is not None]
            await self._run(flight, await self._living(flight, deliveries))
        except Exception as error:
            # Settling failed, or a stop broke it off: what is still open is delivered again.
            expected = isinstance(error, (nats.errors.Error, OSError, DependencyUnavailable))
            log.warning(
                "batch_left",
                durable=self._durable.name,
                error=type(error).__name__,
                exc_info=None if expected else error,
            )
            with contextlib.suppress(nats.errors.Error, OSError):
                for message in flight.messages:
                    await flight.hand_back(
                        message.metadata.sequence.stream, retry_delay(message.metadata.num_delivered)
                    )

    async def _read(self, flight: InFlight[E], message: Msg) -> Delivery[E] | None:
        meta = message.metadata
        try:
            body = await self._held(lambda: self._claims.check_out(message.data, message.headers))
            event = decode(self._durable.event, body)
        except DependencyUnavailable:
            raise
        except Exception as error:
            await self._end(flight, meta.sequence.stream, meta.num_delivered, error, None)
            return None
        return Delivery(
            event, meta.stream, meta.sequence.stream, meta.num_delivered, continued(message.headers)
        )

    async def _run(self, flight: InFlight[E], deliveries: list[Delivery[E]]) -> None:
        """Handle a batch; bisect it where it fails, until the message that fails is alone."""
        if not deliveries:
            return
        try:
            faulty = await self._held(lambda: self._handler(deliveries))
        except DependencyUnavailable:
            raise
        except Exception as error:
            if len(deliveries) > 1:
                half = len(deliveries) // 2
                await self._run(flight, deliveries[:half])
                await self._run(flight, deliveries[half:])
            else:
                last = deliveries[0]
                await self._end(flight, last.sequence, last.deliveries, error, last.event)
            return
        for item in faulty or ():
            await self._held(functools.partial(flight.give_up_item, item))
        # Once more: what was erased while it was handled is undone, whichever of the two came first.
        for delivery in await self._living(flight, deliveries):
            await flight.ack(delivery.sequence)

    async def _living(self, flight: InFlight[E], deliveries: list[Delivery[E]]) -> list[Delivery[E]]:
        """Those that no erasure came after; the others are undone, deleted from the stream and settled."""
        eras = await self._held(lambda: self._erased.eras(d.event for d in deliveries))
        living = []
        for delivery in deliveries:
            era = eras[delivery.event.tenant, delivery.event.session]
            if delivery.event.era >= era:
                living.append(delivery)
                continue
            await self._held(functools.partial(self._undo, delivery, era, flight.headers(delivery.sequence)))
            await flight.ack(delivery.sequence)
            ERASED_DROPPED.labels(self._durable.name).inc()
        return living

    async def _undo(self, delivery: Delivery[E], era: int, headers: Mapping[str, str]) -> None:
        if self._forget is not None:
            await self._forget(delivery.event, era)
        await self._sweeper.wipe(delivery.stream, delivery.sequence, headers)

    async def _end(
        self, flight: InFlight[E], sequence: int, deliveries: int, error: Exception, event: E | None
    ) -> None:
        end = outcome(error, deliveries)
        log.warning(
            "message_failed",
            durable=self._durable.name,
            sequence=sequence,
            deliveries=deliveries,
            error=type(error).__name__,
            end=type(end).__name__,
        )
        if isinstance(end, HandBack):
            await flight.hand_back(sequence, end.delay_s)
        else:
            await self._held(functools.partial(flight.give_up, sequence, end.reason, event))

    async def _held(self, call: Callable[[], Awaitable[T]]) -> T:
        """Call again while a dependency is down, until it is back or the consumer stops."""
        async for attempt in tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(DependencyUnavailable),
            wait=tenacity.wait_exponential_jitter(multiplier=0.25, max=LONGEST_HOLD_S, jitter=0.25),
            stop=lambda _: self.stopping,
            sleep=self._pause,
            before_sleep=self._count_hold,
            reraise=True,
        ):
            with attempt:
                return await call()
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _count_hold(self, state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        part = error.part if isinstance(error, DependencyUnavailable) else ""
        HOLDS.labels(self._durable.name, part).inc()
        log.warning("batch_held", durable=self._durable.name, part=part, attempt=state.attempt_number)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)
