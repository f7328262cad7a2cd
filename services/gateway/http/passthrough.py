"""What Backscroll has no part in: any method, any path under `/v1`, bytes both ways."""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from urllib.parse import unquote

import msgspec
import structlog
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from services.gateway.dialects import dialect_of
from services.gateway.dialects.base import Dialect
from services.gateway.http.headers import Pairs
from services.gateway.http.respond import Passing, error_event
from services.gateway.upstream.ending import Ending
from services.gateway.upstream.engine import Reply
from services.gateway.upstream.engines import Engines, Served
from shared.errors import EngineUnavailable, NotFound, TooLarge
from shared.telemetry import ENGINE_STREAM_ERRORS, REQUESTS

log = structlog.get_logger(__name__)

MODEL_FIELD = re.compile(rb'name="model"\r\n(?:[^\r\n]+\r\n){0,4}\r\n([^\r\n]+)')
"""With more lines of headers than clients send, but few: any number took minutes where they did not end."""
MODE = ("x-backscroll-mode", "passthrough")


class _Named(msgspec.Struct):
    model: str | None = None


_named = msgspec.json.Decoder(_Named)


async def pass_through(http: HttpRequest, engines: Engines, max_body_bytes: int) -> Response:
    path = _path(http)
    body: bytes | AsyncIterator[bytes]
    if engines.only and _has_body(http):
        served, body = engines.only, _bounded(http, max_body_bytes)
    else:
        body = await read_body(http, max_body_bytes)
        served = _serving(engines, path, body)
    return await forward(http, served, path, body)


async def forward(
    http: HttpRequest,
    served: Served,
    path: str,
    body: bytes | AsyncIterator[bytes],
    told: Pairs | None = None,
) -> Response:
    reply = await served.engine.send(
        http.method, path, http.headers.items(), body, http.scope["query_string"]
    )
    dialect = dialect_of(http.url.path)
    REQUESTS.labels(mode="unread", dialect=dialect.NAME, status=str(reply.status)).inc()
    parts = _relay(reply, served, dialect)
    return Passing(parts, reply.status, [*reply.headers, MODE, *(told or [])], reply.close)


async def read_body(http: HttpRequest, max_body_bytes: int) -> bytes:
    """Raises `TooLarge`."""
    return b"".join([part async for part in _bounded(http, max_body_bytes)])


async def _bounded(http: HttpRequest, max_body_bytes: int) -> AsyncIterator[bytes]:
    size = 0
    async for part in http.stream():
        size += len(part)
        if size > max_body_bytes:
            raise TooLarge(f"The body is larger than {max_body_bytes} bytes.")
        yield part


async def _relay(reply: Reply, served: Served, dialect: Dialect) -> AsyncGenerator[bytes, None]:
    ending = Ending(dialect)
    failed = False
    try:
        async for part in reply.body:
            ending.feed(part)
            yield part
    except EngineUnavailable as error:
        failed = True
        if not reply.is_stream:
            # Breaking off the connection is all that can still tell the client.
            raise
        log.warning("engine failed within its answer", engine=served.engine.name, code=error.code)
        yield ending.until_event() + error_event(error, dialect)
    finally:
        if reply.is_stream and (failed or ending.error()):
            ENGINE_STREAM_ERRORS.labels(engine=served.engine.name).inc()


def _path(http: HttpRequest) -> str:
    """Under `/v1`, as the client wrote it; nothing outside of the engine's `/v1` is reached."""
    path: str = http.scope["raw_path"].decode("ascii").removeprefix("/v1/")
    if any(unquote(segment) in (".", "..") for segment in re.split(r"/|\\", unquote(path))):
        raise NotFound("A path with '.' or '..' leads nowhere.")
    return path


def _has_body(http: HttpRequest) -> bool:
    return "content-length" in http.headers or "transfer-encoding" in http.headers


def _serving(engines: Engines, path: str, body: bytes) -> Served:
    model = _model_of(path, body)
    return engines.of(model) if model else engines.default


def _model_of(path: str, body: bytes) -> str | None:
    """Of the path (`models/<name>`), a JSON body, or a form."""
    if path.startswith("models/"):
        return unquote(path.removeprefix("models/"))
    try:
        return _named.decode(body).model
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = MODEL_FIELD.search(body)
        return found[1].decode("utf-8", "replace") if found else None
