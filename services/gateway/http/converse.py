"""The endpoints that carry a conversation, each in its dialect."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import structlog
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from services.gateway.dialects.base import Dialect
from services.gateway.http.passthrough import forward, read_body
from services.gateway.http.record import new_record_id
from services.gateway.http.respond import Passing, error_event
from services.gateway.prepare.prepared import Prepared
from services.gateway.reading.body import read_fields
from services.gateway.reading.request import Reader, Request
from services.gateway.reading.session import label_of
from services.gateway.upstream.engine import Reply
from services.gateway.upstream.engines import Engines, Served
from services.gateway.upstream.exchange import Exchange
from services.gateway.upstream.overflow import message_of
from shared.bus import Bus
from shared.errors import BackscrollError, InvalidRequest

COMMENT_EVERY_S = 5.0
"""A streaming client that waits for the index gets a comment so often; from then on errors are events."""

KEPT = ("previous_response_id", "conversation")
"""Fields that name a history which is not in the request."""


@dataclass(frozen=True)
class Conversing:
    bus: Bus
    engines: Engines
    reader: Reader
    max_body_bytes: int
    retry_on_overfit: bool

    async def answer(self, http: HttpRequest, dialect: Dialect) -> Response:
        reader = self.reader.of(http.state.tenant)
        raw = await read_body(http, self.max_body_bytes)
        kept = kept_history(raw, dialect)
        if kept is not None:
            return await self._unseen(http, dialect, raw, kept)
        request = Request(raw, reader, dialect)
        session = label_of(http.headers, request.body.values) or request.label
        structlog.contextvars.bind_contextvars(session=session, tenant=reader.tenant)
        served = self.engines.of(request.model)
        if not request.stream:
            prepared = await served.preparer.prepare(request, session)
        else:
            work = asyncio.create_task(served.preparer.prepare(request, session))
            try:
                ready, _ = await asyncio.wait({work}, timeout=COMMENT_EVERY_S)
            except asyncio.CancelledError:
                work.cancel()
                raise
            if not ready:
                return self._early(http, served, request, session, work)
            prepared = work.result()
        exchange = self._exchange(served, request, session, prepared)
        return await exchange.answer(await exchange.send(http.headers.items()))

    async def _unseen(
        self, http: HttpRequest, dialect: Dialect, raw: bytes, fields: dict[str, object]
    ) -> Response:
        """The history is at the engine: nothing can be recalled from it, nothing cut, and that is told."""
        model = fields.get("model")
        served = self.engines.of(model) if isinstance(model, str) else self.engines.default
        if served.translates(dialect):
            named = next(name for name in KEPT if fields.get(name) is not None)
            raise InvalidRequest(f"'{named}': this engine keeps no history; send all of it.", named)
        return await forward(http, served, dialect.PATH, raw, [("x-backscroll-history", "engine")])

    def _exchange(self, served: Served, request: Request, session: str, prepared: Prepared) -> Exchange:
        return Exchange(self.bus, served, request, session, prepared, self.retry_on_overfit)

    def _early(
        self,
        http: HttpRequest,
        served: Served,
        request: Request,
        session: str,
        work: "asyncio.Task[Prepared]",
    ) -> Response:
        """A 200 before the plan is there: signs of life keep the client from giving up."""
        dialect, record_id = request.dialect, new_record_id()

        async def events() -> AsyncGenerator[bytes, None]:
            try:
                while not work.done():
                    yield dialect.KEEP_ALIVE
                    await asyncio.wait({work}, timeout=COMMENT_EVERY_S)
                exchange = self._exchange(served, request, session, work.result())
                exchange.record_id = record_id
                reply = await exchange.send(http.headers.items())
                if reply.is_stream:
                    async for part in exchange.relay(reply):
                        yield part
                else:
                    yield await _as_event(exchange, reply)
            except BackscrollError as error:
                yield error_event(error, dialect)

        async def close() -> None:
            work.cancel()

        headers = [
            ("content-type", "text/event-stream; charset=utf-8"),
            ("x-backscroll-session", session),
            ("x-backscroll-mode", "assembled"),
            ("x-backscroll-record", record_id),
        ]
        return Passing(events(), 200, headers, close)


async def _as_event(exchange: Exchange, reply: Reply) -> bytes:
    """An engine's error whose status comes too late."""
    body = b"".join([part async for part in exchange.relay(reply)])
    said = message_of(body) or "The engine refused the request."
    return exchange.request.dialect.error_event(said, "engine_error", reply.status)


def kept_history(raw: bytes, dialect: Dialect) -> dict[str, object] | None:
    """The fields of a request whose history is at the engine; None for all others."""
    if not any(name in dialect.READS and f'"{name}"'.encode() in raw for name in KEPT):
        return None
    fields = read_fields(raw, dialect.READS)
    return fields if dialect.passes_through(fields) else None
