"""Our own answers: errors in a dialect's shape, and an engine's bytes as they come."""

from collections.abc import AsyncGenerator, Awaitable, Callable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from services.gateway.dialects.base import Dialect
from services.gateway.http.headers import Pairs
from shared.errors import BackscrollError, InvalidRequest
from shared.telemetry import REQUESTS


class Passing(Response):
    """Bytes as they come; their source is closed when they end, however they end.

    `close` too: a generator that a client's end finds not yet begun closes nothing by itself.
    """

    def __init__(
        self,
        parts: AsyncGenerator[bytes, None],
        status: int,
        headers: Pairs,
        close: Callable[[], Awaitable[None]],
    ) -> None:
        self.status_code = status
        self.background = None
        self.raw_headers = raw(headers)
        self._parts = parts
        self._close = close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await send(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            async for part in self._parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await self._parts.aclose()
            await self._close()


class Whole(Response):
    """An answer that is there to its last byte."""

    def __init__(self, body: bytes, status: int, headers: Pairs) -> None:
        self.status_code = status
        self.background = None
        self.body = body
        kept = [pair for pair in headers if pair[0] != "content-length"]
        self.raw_headers = raw([*kept, ("content-length", str(len(body)))])


def raw(headers: Pairs) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def error_response(error: BackscrollError, dialect: Dialect) -> Response:
    REQUESTS.labels(mode="refused", dialect=dialect.NAME, status=str(error.status)).inc()
    field = error.field if isinstance(error, InvalidRequest) else None
    headers = [("content-type", "application/json")]
    if error.retry_after_s is not None:
        headers.append(("retry-after", str(error.retry_after_s)))
    return Whole(dialect.error_body(str(error), error.code, error.status, field), error.status, headers)


def error_event(error: BackscrollError, dialect: Dialect) -> bytes:
    return dialect.error_event(str(error), error.code, error.status)
