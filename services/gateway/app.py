"""The gateway's HTTP: what clients see."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

import structlog
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from services.gateway.dialects import chat
from services.gateway.engine import Engine
from services.gateway.exchange import Exchange
from services.gateway.prepare import Preparer
from services.gateway.prepared import Prepared
from services.gateway.request import Reader, Request
from shared.bus import Bus
from shared.errors import BackscrollError, DependencyUnavailable, InvalidRequest, NotFound
from shared.telemetry import REQUESTS, metrics

log = structlog.get_logger(__name__)

COMMENT_EVERY_S = 5.0
"""A streaming client that waits for the index gets a comment so often; from then on errors are events."""


@dataclass(frozen=True)
class Gateway:
    bus: Bus
    engine: Engine
    preparer: Preparer
    reader: Reader
    max_body_bytes: int
    retry_on_overfit: bool

    async def chat_completions(self, http: HttpRequest) -> Response:
        request = Request(await self._body(http), self.reader, chat)
        session = http.headers.get("x-session-id") or request.label
        work = asyncio.create_task(self.preparer.prepare(request, session))
        if request.stream:
            ready, _ = await asyncio.wait({work}, timeout=COMMENT_EVERY_S)
            if not ready:
                return self._early(http, request, session, work)
        exchange = self._exchange(request, session, await work)
        reply = await exchange.send(http.headers)
        return StreamingResponse(exchange.relay(reply), reply.status, reply.headers | exchange.headers())

    def _exchange(self, request: Request, session: str, prepared: Prepared) -> Exchange:
        return Exchange(
            self.bus, self.engine, self.preparer, request, session, prepared, self.retry_on_overfit
        )

    async def _body(self, http: HttpRequest) -> bytes:
        parts: list[bytes] = []
        size = 0
        async for part in http.stream():
            size += len(part)
            if size > self.max_body_bytes:
                raise TooLarge(f"The body is larger than {self.max_body_bytes} bytes.")
            parts.append(part)
        return b"".join(parts)

    def _early(
        self, http: HttpRequest, request: Request, session: str, work: "asyncio.Task[Prepared]"
    ) -> Response:
        """A 200 before the plan is there: comments keep the client from giving up."""

        async def events() -> AsyncIterator[bytes]:
            try:
                while not work.done():
                    yield b": backscroll is indexing the conversation\n\n"
                    await asyncio.wait({work}, timeout=COMMENT_EVERY_S)
                exchange = self._exchange(request, session, work.result())
                reply = await exchange.send(http.headers)
                if reply.status == 200:
                    async for part in exchange.relay(reply):
                        yield part
                else:
                    refusal = b"".join([part async for part in exchange.relay(reply)])
                    yield b"data: " + refusal.replace(b"\n", b" ") + b"\n\n"
            except BackscrollError as error:
                yield b"data: " + _error_body(error) + b"\n\n"
            finally:
                work.cancel()

        headers = {"x-backscroll-session": session, "x-backscroll-mode": "assembled"}
        return StreamingResponse(events(), headers=headers, media_type="text/event-stream")

    async def models(self, http: HttpRequest) -> Response:
        reply = await self.engine.send("GET", "models", http.headers, b"")

        async def relay() -> AsyncIterator[bytes]:
            try:
                async for part in reply.body:
                    yield part
            finally:
                await reply.close.aclose()

        return StreamingResponse(relay(), reply.status, reply.headers)

    async def record(self, http: HttpRequest) -> Response:
        found = await self.bus.find_record(self.reader.tenant, http.path_params["record"])
        if found is None:
            raise NotFound("There is no record of this id; passed-through requests have none.")
        return JSONResponse(json.loads(found.body))

    async def live(self, _: HttpRequest) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(self, _: HttpRequest) -> Response:
        with suppress(DependencyUnavailable):
            await self.bus.ready()
            return JSONResponse({"status": "ok"})
        # Without the bus requests are still answered, from the window alone.
        return JSONResponse({"status": "degraded", "part": "bus_unavailable"}, status_code=503)


class TooLarge(InvalidRequest):
    status = 413
    code = "request_too_large"


def _error_body(error: BackscrollError) -> bytes:
    field = error.field if isinstance(error, InvalidRequest) else None
    return chat.error_body(str(error), error.code, error.status, field)


async def _on_error(_: HttpRequest, error: Exception) -> Response:
    if not isinstance(error, BackscrollError):
        raise error
    REQUESTS.labels(action="refused", status=str(error.status)).inc()
    return Response(_error_body(error), error.status, media_type="application/json")


async def _on_bug(_: HttpRequest, error: Exception) -> Response:
    log.error("request failed", error=type(error).__name__, exc_info=error)
    body = chat.error_body("Backscroll failed to handle this request.", "internal_error", 500)
    return Response(body, 500, media_type="application/json")


def create_app(gateway: Gateway) -> Starlette:
    return Starlette(
        routes=[
            Route("/v1/chat/completions", gateway.chat_completions, methods=["POST"]),
            Route("/v1/models", gateway.models),
            Route("/v1/records/{record}", gateway.record),
            Route("/health/live", gateway.live),
            Route("/health/ready", gateway.ready),
            Route("/metrics", metrics),
        ],
        exception_handlers={BackscrollError: _on_error, Exception: _on_bug},
    )
