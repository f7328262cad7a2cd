"""The engine over HTTP: the part of vLLM's OpenAI server that Backscroll talks to."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator
from typing import Any, cast

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from backscroll.engine.engine import DEMO_MODEL, IMAGE_TOKENS, Engine
from backscroll.engine.limits import Refusal
from backscroll.engine.sse import stream_events


def create_engine(
    window: int,
    model: str = DEMO_MODEL,
    *,
    image_tokens: int = IMAGE_TOKENS,
    keep_seen: int = 0,
    strict: bool = False,
    piece_delay_s: float = 0.0,
) -> Starlette:
    """A Starlette app with its `Engine` in `app.state.engine`.

    `window` in tokens, prompt and answer together. `keep_seen`: how many request bodies to keep for
    inspection. `strict`: refuse what the strictest chat templates refuse. `piece_delay_s`: wait before
    each piece of a streamed answer.
    """
    routes = [
        Route("/v1/chat/completions", _chat, methods=["POST"]),
        Route("/v1/models", _models),
        Route("/tokenize", _tokenize, methods=["POST"]),
        Route("/health", _health),
    ]
    app = Starlette(routes=routes, exception_handlers={Refusal: _refused})
    app.state.engine = Engine(window, model, image_tokens=image_tokens, keep_seen=keep_seen, strict=strict)
    app.state.piece_delay_s = piece_delay_s
    return app


def engine_of(app: Starlette) -> Engine:
    engine: Engine = app.state.engine
    return engine


async def _chat(request: Request) -> Response:
    body = await _body(request)
    engine = engine_of(request.app)
    completion = await asyncio.to_thread(engine.complete, body)
    envelope = {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "created": int(time.time()),
        "model": body.get("model") or engine.model,
    }
    if body.get("stream"):
        options = body.get("stream_options")
        with_usage = isinstance(options, dict) and bool(options.get("include_usage"))
        events = stream_events(envelope, completion, with_usage=with_usage)
        return StreamingResponse(
            _paced(events, request.app.state.piece_delay_s), media_type="text/event-stream"
        )
    choice = {
        "index": 0,
        "message": completion.message(),
        "logprobs": None,
        "finish_reason": completion.finish_reason,
    }
    return JSONResponse(
        {**envelope, "object": "chat.completion", "choices": [choice], "usage": completion.usage()}
    )


async def _paced(events: list[bytes], delay_s: float) -> AsyncIterator[bytes]:
    for event in events:
        if delay_s:
            await asyncio.sleep(delay_s)
        yield event


async def _models(request: Request) -> Response:
    engine = engine_of(request.app)
    card = {
        "id": engine.model,
        "object": "model",
        "owned_by": "backscroll",
        "max_model_len": engine.window,
    }
    return JSONResponse({"object": "list", "data": [card]})


async def _tokenize(request: Request) -> Response:
    engine = engine_of(request.app)
    ids = await asyncio.to_thread(engine.count, await _body(request))
    answer = {"count": len(ids), "max_model_len": engine.window, "tokens": ids.tolist()}
    return Response(orjson.dumps(answer), media_type="application/json")


async def _health(request: Request) -> Response:
    return Response(status_code=200)


async def _body(request: Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.body())
    except ValueError as error:
        raise Refusal(f"The body is not JSON: {error}.") from error
    if not isinstance(body, dict):
        raise Refusal("The body is not a JSON object.")
    return body


async def _refused(request: Request, error: Exception) -> Response:
    return JSONResponse(cast(Refusal, error).body(), status_code=400)
