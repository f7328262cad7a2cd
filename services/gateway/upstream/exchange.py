"""One exchange with an engine: forward, pass the answer on as it comes, remember what it told."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field

import structlog
from starlette.responses import Response

from services.gateway.dialects.base import Usage
from services.gateway.http.headers import Pairs
from services.gateway.http.observe import observe, observe_usage
from services.gateway.http.record import make_record, new_record_id
from services.gateway.http.respond import Passing, Whole, error_event
from services.gateway.prepare.prepared import Prepared
from services.gateway.reading.request import Request
from services.gateway.translate.reply import for_chat, translated
from services.gateway.translate.translation import PATH, Translation
from services.gateway.upstream.ending import Ending
from services.gateway.upstream.engine import Reply
from services.gateway.upstream.engines import Served
from services.gateway.upstream.opening import opening
from services.gateway.upstream.overflow import Overflow, parse_overflow
from shared.bus import Bus
from shared.errors import DependencyUnavailable, EngineUnavailable
from shared.telemetry import ENGINE_RETRIES, ENGINE_STREAM_ERRORS

log = structlog.get_logger(__name__)

RECORD_WAIT_S = 0.25
"""How long the end of an answer waits for its record to be published."""


@dataclass
class Exchange:
    bus: Bus
    served: Served
    request: Request
    session: str
    prepared: Prepared
    retry_on_overfit: bool
    record_id: str = field(default_factory=new_record_id)
    started: float = field(default_factory=time.perf_counter)
    first_token_s: float | None = None

    async def send(self, headers: Pairs) -> Reply:
        """Forward; once more, smaller, where the engine refuses the prompt as too long.

        Raises `ContextLengthExceeded` where it refuses the smaller one too.
        """
        reply, overflow = await self._tried(headers)
        if overflow is None or not self.retry_on_overfit:
            return reply
        await reply.close()
        self.prepared = await self._shrink(overflow)
        reply, overflow = await self._tried(headers)
        if overflow is None:
            return reply
        await reply.close()
        raise self.served.preparer.give_up(self.request, self.prepared, overflow)

    async def _tried(self, headers: Pairs) -> tuple[Reply, Overflow | None]:
        reply, refusal = await opening(await self._forward(headers))
        return reply, parse_overflow(refusal) if refusal else None

    async def _forward(self, headers: Pairs) -> Reply:
        with self.prepared.stage("forward"):
            dialect, body = self.request.dialect, self.prepared.body
            if not self.served.translates(dialect):
                return await self.served.engine.send("POST", dialect.PATH, headers, body)
            translation = Translation(dialect.NAME, body, self.served.template)
            sent, engine = for_chat(headers), self.served.engine
            return translated(await engine.send("POST", PATH, sent, translation.body), translation)

    async def _shrink(self, overflow: Overflow) -> Prepared:
        log.warning("engine refused a prompt that was to fit", window=overflow.window, told=overflow.tokens)
        self.prepared.degrade("engine_refused")
        ENGINE_RETRIES.labels(engine=self.served.engine.name).inc()
        return await self.served.preparer.prepare_smaller(self.request, self.session, self.prepared, overflow)

    def headers(self) -> Pairs:
        told = [("x-backscroll-session", self.session), ("x-backscroll-mode", self.prepared.mode)]
        if self.prepared.mode == "assembled":
            told.append(("x-backscroll-record", self.record_id))
        if self.prepared.prefix:
            told.append(("x-backscroll-prefix", self.prepared.prefix.header))
        if self.prepared.degraded:
            told.append(("x-backscroll-degraded", ",".join(self.prepared.degraded)))
        return told

    async def answer(self, reply: Reply) -> Response:
        """A stream as it comes; anything else whole, so that an engine that breaks off is an error."""
        if reply.is_stream:
            headers = [*reply.headers, *self.headers()]
            return Passing(self.relay(reply), reply.status, headers, reply.close)
        body = b"".join([part async for part in self.relay(reply)])
        return Whole(body, reply.status, [*reply.headers, *self.headers()])

    async def relay(self, reply: Reply) -> AsyncGenerator[bytes, None]:
        """Every byte as it comes; then what the engine told goes to the tip and the record."""
        ending = Ending(self.request.dialect)
        recorded: asyncio.Task[None] | None = None
        failed = False
        try:
            async for part in reply.body:
                if self.first_token_s is None:
                    self.first_token_s = time.perf_counter() - self.started
                ending.feed(part)
                yield part
        except EngineUnavailable as error:
            failed = True
            if not reply.is_stream:
                raise
            log.warning("engine failed within its answer", engine=self.served.engine.name, code=error.code)
            yield ending.until_event() + error_event(error, self.request.dialect)
        finally:
            # Also for a client that is gone: what the engine told holds all the same.
            await reply.close()
            if reply.is_stream and (failed or ending.error()):
                ENGINE_STREAM_ERRORS.labels(engine=self.served.engine.name).inc()
            observe(self.request, self.prepared, reply.status, self.first_token_s)
            if reply.status == 200:
                usage = ending.usage(stream=reply.is_stream)
                observe_usage(usage)
                self.served.preparer.learn(self.request, self.prepared, usage)
                recorded = self._record(reply.status, usage)
        if recorded is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(RECORD_WAIT_S):
                    await asyncio.shield(recorded)

    def _record(self, status: int, usage: Usage) -> "asyncio.Task[None] | None":
        if self.prepared.mode != "assembled":
            return None
        record = make_record(
            self.record_id, self.request, self.session, self.prepared, usage, status, self.first_token_s
        )

        async def publish() -> None:
            try:
                await self.bus.publish(record)
            except DependencyUnavailable as down:
                log.warning("record lost", part=down.part, record=self.record_id)

        return self.served.preparer.beside(publish())
