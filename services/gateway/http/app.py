"""The gateway's HTTP: what clients see."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from services.gateway.dialects import DIALECTS, dialect_of
from services.gateway.dialects.base import Dialect
from services.gateway.http.converse import Conversing
from services.gateway.http.count_tokens import PATH as COUNT_PATH
from services.gateway.http.count_tokens import count_tokens
from services.gateway.http.disconnect import EndWithClient
from services.gateway.http.erase import PATH as ERASE_PATH
from services.gateway.http.erase import erase
from services.gateway.http.passthrough import pass_through
from services.gateway.http.respond import Whole, error_response
from services.gateway.http.traced import Traced
from services.gateway.upstream.engines import Engines
from shared.bus import Bus
from shared.errors import BackscrollError, DependencyUnavailable, NotFound
from shared.telemetry import metrics

log = structlog.get_logger(__name__)

ANY_METHOD = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


@dataclass(frozen=True)
class Gateway:
    bus: Bus
    engines: Engines
    conversing: Conversing
    max_body_bytes: int

    def conversation(self, dialect: Dialect) -> Callable[[HttpRequest], Awaitable[Response]]:
        async def answer(http: HttpRequest) -> Response:
            return await self.conversing.answer(http, dialect)

        return answer

    async def models(self, http: HttpRequest) -> Response:
        if self.engines.only:
            return await self.anything_else(http)
        body = await self.engines.models(http.headers.items())
        return Whole(body, 200, [("content-type", "application/json")])

    async def count_tokens(self, http: HttpRequest) -> Response:
        reader = self.conversing.reader.of(http.state.tenant)
        return await count_tokens(http, self.engines, reader, self.max_body_bytes)

    async def anything_else(self, http: HttpRequest) -> Response:
        return await pass_through(http, self.engines, self.max_body_bytes)

    async def record(self, http: HttpRequest) -> Response:
        found = await self.bus.find_record(http.state.tenant, http.path_params["record"])
        if found is None:
            raise NotFound("There is no record of this id; passed-through requests have none.")
        return JSONResponse(json.loads(found.body))

    async def erase(self, http: HttpRequest) -> Response:
        return await erase(http, self.bus)

    async def live(self, _: HttpRequest) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(self, _: HttpRequest) -> Response:
        """An engine that is left alone makes nothing unready: its clients are told, the others served."""
        left_alone = {s.engine.name: s.engine.breaker.open for s in self.engines.all}
        engines = {name: "failing" if is_open else "ok" for name, is_open in left_alone.items()}
        with suppress(DependencyUnavailable):
            await self.bus.ready()
            return JSONResponse({"status": "ok", "engines": engines})
        # Without the bus requests are still answered, from the window alone: a gateway that called itself
        # unready would be taken out of service with all the others, for a part that it can do without.
        return JSONResponse({"status": "degraded", "part": "bus_unavailable", "engines": engines})


async def _on_error(http: HttpRequest, error: Exception) -> Response:
    if not isinstance(error, BackscrollError):
        raise error
    return error_response(error, dialect_of(http.url.path))


async def _on_bug(http: HttpRequest, error: Exception) -> Response:
    log.error("request failed", error=type(error).__name__, exc_info=error)
    told = BackscrollError("Backscroll failed to handle this request.")
    return error_response(told, dialect_of(http.url.path))


def create_app(gateway: Gateway, guard: Middleware, inspector: Mount) -> Starlette:
    """`guard` is `Guard`: it names the tenant of each request, `state.tenant`."""
    # With a slash at the end too: passed on, the engine's redirect would tell the client of its own address.
    conversations = [
        Route(f"/v1/{d.PATH}{end}", gateway.conversation(d), methods=["POST"])
        for d in DIALECTS
        for end in ("", "/")
    ]
    return Starlette(
        routes=[
            *conversations,
            Route(f"/v1/{COUNT_PATH}", gateway.count_tokens, methods=["POST"]),
            Route("/v1/models", gateway.models),
            Route("/v1/records/{record}", gateway.record),
            Route(ERASE_PATH, gateway.erase, methods=["DELETE"]),
            Route("/v1/{path:path}", gateway.anything_else, methods=ANY_METHOD),
            Route("/health/live", gateway.live),
            Route("/health/ready", gateway.ready),
            Route("/metrics", metrics),
            inspector,
        ],
        middleware=[Middleware(Traced), guard, Middleware(EndWithClient)],
        exception_handlers={BackscrollError: _on_error, Exception: _on_bug},
    )
