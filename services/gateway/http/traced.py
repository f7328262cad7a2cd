"""The span of a request, and what every log line of it names."""

from time import perf_counter

import structlog
from opentelemetry.trace import SpanKind
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shared.tracing import continued, span

log = structlog.get_logger(__name__)

QUIET = frozenset({"/health/live", "/health/ready", "/metrics"})
"""Asked every few seconds by machines, whose answers are counted elsewhere."""


class Traced:
    """Continues the client's trace where it sent one; one log line a request, without content."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in QUIET:
            await self._app(scope, receive, send)
            return
        status, started = 0, perf_counter()

        async def send_seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        name = f"{scope['method']} {_route(scope['path'])}"
        with (
            structlog.contextvars.bound_contextvars(),
            span(name, SpanKind.SERVER, parent=continued(Headers(scope=scope))) as current,
        ):
            try:
                await self._app(scope, receive, send_seen)
            finally:
                current.set_attribute("http.response.status_code", status)
                log.info("request", route=name, status=status, seconds=round(perf_counter() - started, 4))


def _route(path: str) -> str:
    """Without ids, which stand last in our own paths and may stand anywhere in an engine's."""
    return "/".join(path.split("/")[:4])
