"""One exchange with the engine: forward, pass the answer on as it comes, remember what it told."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from services.gateway.dialects.base import Usage
from services.gateway.engine import Engine, Reply
from services.gateway.overflow import Overflow, parse_overflow
from services.gateway.prepare import Preparer
from services.gateway.prepared import Prepared
from services.gateway.record import make_record, new_record_id
from services.gateway.request import Request
from services.gateway.usage import UsageReader
from shared.bus import Bus
from shared.errors import DependencyUnavailable
from shared.telemetry import REQUESTS

log = structlog.get_logger(__name__)

RECORD_WAIT_S = 0.25
"""How long the end of an answer waits for its record to be published."""
REFUSAL_STATUS = frozenset({400, 413, 422})
REFUSAL_BYTES = 64 * 1024


@dataclass
class Exchange:
    bus: Bus
    engine: Engine
    preparer: Preparer
    request: Request
    session: str
    prepared: Prepared
    retry_on_overfit: bool
    record_id: str = field(default_factory=new_record_id)
    started: float = field(default_factory=time.perf_counter)
    first_token_s: float | None = None

    async def send(self, headers: Mapping[str, str]) -> Reply:
        """Forward; once more, smaller, where the engine refuses the prompt as too long."""
        reply = await self._forward(headers)
        if reply.status not in REFUSAL_STATUS or not self.retry_on_overfit:
            return reply
        reply, refusal = await _peek(reply)
        overflow = parse_overflow(refusal)
        if overflow is None:
            return reply
        await reply.close.aclose()
        self.prepared = await self._shrink(overflow)
        return await self._forward(headers)

    async def _forward(self, headers: Mapping[str, str]) -> Reply:
        with self.prepared.stage("forward"):
            return await self.engine.send("POST", self.request.dialect.PATH, headers, self.prepared.body)

    async def _shrink(self, overflow: Overflow) -> Prepared:
        log.warning("engine refused a prompt that was to fit", window=overflow.window, told=overflow.tokens)
        self.prepared.degrade("engine_refused")
        return await self.preparer.prepare_smaller(self.request, self.session, self.prepared, overflow)

    def headers(self) -> dict[str, str]:
        told = {"x-backscroll-session": self.session, "x-backscroll-mode": self.prepared.mode}
        if self.prepared.mode == "assembled":
            told["x-backscroll-record"] = self.record_id
        if self.prepared.degraded:
            told["x-backscroll-degraded"] = ",".join(self.prepared.degraded)
        return told

    async def relay(self, reply: Reply) -> AsyncIterator[bytes]:
        """Every byte as it comes; then what the engine told goes to the tip and the record."""
        reader = UsageReader(self.request.dialect)
        try:
            async for part in reply.body:
                if self.first_token_s is None:
                    self.first_token_s = time.perf_counter() - self.started
                reader.feed(part)
                yield part
        finally:
            await reply.close.aclose()
        REQUESTS.labels(action=self.prepared.mode, status=str(reply.status)).inc()
        if reply.status == 200:
            usage = reader.read(stream=self.request.stream)
            self.preparer.learn(self.request, self.prepared, usage)
            await self._record(reply.status, usage)

    async def _record(self, status: int, usage: Usage) -> None:
        if self.prepared.mode != "assembled":
            return
        record = make_record(
            self.record_id, self.request, self.session, self.prepared, usage, status, self.first_token_s
        )

        async def publish() -> None:
            try:
                await self.bus.publish(record)
            except DependencyUnavailable as down:
                log.warning("record lost", part=down.part, record=self.record_id)

        work = self.preparer.beside(publish())
        with suppress(TimeoutError):
            async with asyncio.timeout(RECORD_WAIT_S):
                await asyncio.shield(work)


async def _peek(reply: Reply) -> tuple[Reply, bytes]:
    """The beginning of a refusal, and the reply with nothing of it lost."""
    parts: list[bytes] = []
    size = 0
    async for part in reply.body:
        parts.append(part)
        size += len(part)
        if size > REFUSAL_BYTES:
            break

    async def again() -> AsyncIterator[bytes]:
        for part in parts:
            yield part
        async for part in reply.body:
            yield part

    return Reply(reply.status, reply.headers, again(), reply.close), b"".join(parts)
