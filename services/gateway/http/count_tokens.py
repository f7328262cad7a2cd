"""`/v1/messages/count_tokens`: the engine's count where it has this endpoint, else ours."""

import orjson
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from services.gateway.dialects import anthropic
from services.gateway.http.passthrough import read_body
from services.gateway.http.respond import Whole
from services.gateway.reading.request import Reader, Request
from services.gateway.upstream.engines import Engines
from services.gateway.upstream.opening import REFUSAL_STATUS
from services.gateway.upstream.overflow import parse_overflow

PATH = "messages/count_tokens"
ABSENT = frozenset({404, 405, 501})


async def count_tokens(http: HttpRequest, engines: Engines, reader: Reader, max_body_bytes: int) -> Response:
    """A history longer than the engine's window has a count too, though the engine refuses it."""
    raw = await read_body(http, max_body_bytes)
    request = Request(raw, reader, anthropic)
    served = engines.of(request.model)
    if not served.chat_only:
        reply = await served.engine.send("POST", PATH, http.headers.items(), raw)
        try:
            body = b"".join([part async for part in reply.body])
        finally:
            await reply.close()
        too_long = reply.status in REFUSAL_STATUS and parse_overflow(body) is not None
        if reply.status not in ABSENT and not too_long:
            return Whole(body, reply.status, reply.headers)
    tokens = await served.preparer.count(request)
    return Whole(orjson.dumps({"input_tokens": tokens}), 200, [("content-type", "application/json")])
