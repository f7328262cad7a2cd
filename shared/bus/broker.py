"""The `Bus`: what a service gets to talk to the others."""

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Coroutine, Iterable
from typing import Any

import nats.errors
import structlog
from faststream.nats import NatsBroker
from nats.js import JetStreamContext
from opentelemetry.trace import SpanKind

from shared.bus import provisioning, rpc, subjects
from shared.bus.claims import Claims
from shared.bus.codec import pack, to_json
from shared.bus.consume import Consumer, E, Forget, Handler
from shared.bus.erased import Erased
from shared.bus.permissions import inbox
from shared.bus.records import SUMMARY, Records
from shared.bus.state import State
from shared.bus.subjects import Durable, Method
from shared.bus.sweep import Sweeper
from shared.bus.unavailable import unavailable
from shared.contracts.events import DeadLetter, ExchangeRecorded, OfSession
from shared.errors import DependencyUnavailable, PermanentFault
from shared.settings import Settings
from shared.telemetry import BUS_ERRORS
from shared.tracing import carrier, span

log = structlog.get_logger(__name__)

CONNECT_S = 10.0
PUBLISH_S = 10.0
PIPELINE = 256
"""Publishes in flight; nats-py has no limit of its own."""
UNREAD = {subjects.RECORDS, subjects.DEADLETTERS}
"""Streams without a consumer that would find out that a session was erased: who publishes looks again."""


class Bus:
    """One connection. Everything raises `DependencyUnavailable("bus_unavailable", ...)` while it is lost."""

    def __init__(self, url: str, *, service: str) -> None:
        self.service = service
        self._closing = False
        self._disconnected: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.broker = NatsBroker(
            url,
            name=f"backscroll-{service}",
            # The default of 60 attempts leaves a service deaf after two minutes without a server.
            max_reconnect_attempts=-1,
            reconnect_time_wait=1,
            inbox_prefix=inbox(service),
            disconnected_cb=self._on_disconnected,
            reconnected_cb=self._on_reconnected,
            error_cb=self._on_error,
            apply_types=False,
            logger=logging.getLogger("backscroll.bus"),
            log_level=logging.DEBUG,
        )
        self._consumers: list[tuple[Consumer[Any], asyncio.Task[None]]] = []
        self._durables: list[Durable[Any]] = []
        self._beside: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        try:
            async with asyncio.timeout(CONNECT_S):
                await self.broker.start()
        except (nats.errors.Error, OSError, TimeoutError) as error:
            raise DependencyUnavailable(
                "bus_unavailable", f"cannot connect: {type(error).__name__}"
            ) from error
        self.js: JetStreamContext = self.broker.connection.jetstream()
        self.claims = Claims(self.js, provisioning.CLAIMS)
        self.rpc_claims = Claims(self.js, provisioning.RPC_CLAIMS)
        self.tips = State(self.js, provisioning.TIPS, self._require_connection)
        self.erased = Erased(self.js, provisioning.ERASED, self._require_connection)
        self.sweeper = Sweeper(self.js, self.claims, self.tips, self.erased)
        self.keys = State(self.js, provisioning.KEYS, self._require_connection)
        self.records = Records(self.broker.connection, self.claims, self._require_connection)

    @property
    def is_connected(self) -> bool:
        return bool(self.broker.connection.is_connected)

    @property
    def is_closing(self) -> bool:
        """A handler with minutes of work looks here between its parts, and raises to hand the rest back."""
        return self._closing

    async def check(self, settings: Settings) -> None:
        """For the start. Raises `PermanentFault` with a line for each difference from what is expected."""
        with unavailable("check"):
            lines = await provisioning.differences(self.js, provisioning.expected(settings))
        if lines:
            raise PermanentFault("; ".join(lines))

    async def ready(self) -> None:
        """For the readiness probe. A pull on a durable that was deleted looks healthy, so it asks."""
        self._require_connection()
        with unavailable("not ready"):
            for durable in self._durables:
                await self.js.consumer_info(durable.stream, durable.name, timeout=2)
        for consumer, task in self._consumers:
            if task.done() and not consumer.stopping:
                raise DependencyUnavailable("bus_unavailable", "a consumer has ended")

    async def publish(self, event: OfSession) -> None:
        """Returns when the stream has the event. Equal events of two minutes are kept once; one whose session
        was erased since is dropped."""
        await self.publish_many([event])

    async def publish_many(self, events: Iterable[OfSession]) -> None:
        """Pipelined. Raises after all have ended, where one failed; repeating them all is harmless."""
        gate = asyncio.Semaphore(PIPELINE)

        async def one(event: OfSession) -> None:
            stream, subject = subjects.ROUTES[type(event)]
            async with gate:
                await self._publish(stream, subject(event), event)

        living = await self.erased.living(events)
        results = await asyncio.gather(*map(one, living), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def _publish(self, stream: str, subject: str, event: OfSession) -> None:
        self._require_connection()
        content = hashlib.blake2b(subject.encode(), digest_size=16)
        # The time of publishing is not content: a retry has another one.
        content.update(to_json(event, exclude={"at"}))
        body, claim = await self.claims.check_in(pack(to_json(event)))
        listed = {SUMMARY: event.summary} if isinstance(event, ExchangeRecorded) else {}
        with unavailable(f"publish to {stream}"), span(f"publish {stream}", SpanKind.PRODUCER):
            ack = await self.broker.publish(
                body,
                subject,
                headers={"Nats-Msg-Id": content.hexdigest(), **claim, **carrier(), **listed},
                # Without a stream it is core NATS: no acknowledgement, silent loss.
                stream=stream,
                timeout=PUBLISH_S,
            )
        if stream in UNREAD:
            await self.sweeper.withdraw(stream, ack.seq, event, claim)

    async def find_record(self, tenant: str, record_id: str) -> ExchangeRecorded | None:
        """Of a tenant's, whatever the session; None where there is none."""
        return await self.records.read(subjects.token(tenant), subjects.token(record_id))

    async def _bury(self, of: str, letter: DeadLetter) -> None:
        await self._publish(subjects.DEADLETTERS, subjects.dead_letter(of, self.service), letter)

    async def consume(
        self,
        durable: Durable[E],
        handler: Handler[E],
        *,
        forget: Forget[E] | None = None,
        max_messages: int = 64,
        flush_ms: float = 10,
    ) -> None:
        """Start handling a durable's events in batches; the package says what a handler may do.

        `forget` undoes what a handler has done of a session that was erased meanwhile.
        """
        consumer = Consumer(
            self.js,
            durable,
            handler,
            service=self.service,
            claims=self.claims,
            bury=self._bury,
            erased=self.erased,
            sweeper=self.sweeper,
            forget=forget,
            max_messages=max_messages,
            flush_ms=flush_ms,
        )
        with unavailable(f"consume {durable.name}"):
            await consumer.bind()
        self._durables.append(durable)
        self._consumers.append((consumer, asyncio.create_task(consumer.run())))

    def beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Run until the bus is closed."""
        self._beside.append(asyncio.create_task(work))

    async def serve(self, method: Method[rpc.Req, rpc.Rep], handler: rpc.Serve[rpc.Req, rpc.Rep]) -> None:
        """Answer a method, up to 64 requests at a time; replicas share them."""
        await rpc.serve(self.broker, self.rpc_claims, method, handler)

    async def call(self, method: Method[rpc.Req, rpc.Rep], request: rpc.Req, *, timeout_s: float) -> rpc.Rep:
        self._require_connection()
        return await rpc.call(self.broker, self.rpc_claims, self._disconnected, method, request, timeout_s)

    async def close(self) -> None:
        """Running handlers finish and are settled; what they were not given goes back."""
        self._closing = True
        for beside in self._beside:
            beside.cancel()
        for consumer, _ in self._consumers:
            consumer.stop()
        await asyncio.gather(*(task for _, task in self._consumers), return_exceptions=True)
        connection = self.broker.connection
        try:
            await self.broker.stop()
        except (nats.errors.Error, OSError):
            # Without a server there is nothing to drain to, and what is left of its socket may say so.
            with contextlib.suppress(OSError):
                await connection.close()

    def _require_connection(self) -> None:
        # nats-py would keep the request while it reconnects: the caller would wait out its timeout, and
        # what was refused would be written all the same, minutes later.
        if not self.is_connected:
            raise DependencyUnavailable("bus_unavailable", "not connected")

    async def _on_disconnected(self) -> None:
        if not self._disconnected.done():
            self._disconnected.set_result(None)
        if not self._closing:
            log.warning("bus_disconnected", service=self.service)

    async def _on_reconnected(self) -> None:
        self._disconnected = asyncio.get_running_loop().create_future()
        log.info("bus_reconnected", service=self.service)

    async def _on_error(self, error: Exception) -> None:
        BUS_ERRORS.labels(self.service).inc()
        log.warning("bus_error", service=self.service, error=type(error).__name__)
