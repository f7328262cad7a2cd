"""A model server on a free port whose answers a test writes."""

import asyncio
import socket
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Answer = Response | Awaitable[Response]
Answering = Callable[[dict[str, Any]], Answer]


class ModelServer:
    """`script` answers the next requests, one each; `always` the rest. `bodies` are what came."""

    def __init__(self, always: Answering) -> None:
        self.always = always
        self.script: deque[Answering] = deque()
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.url = ""

    async def _answer(self, request: Request) -> Response:
        body = await request.json()
        self.bodies.append(body)
        self.paths.append(request.url.path)
        answering = self.script.popleft() if self.script else self.always
        answer = answering(body)
        return answer if isinstance(answer, Response) else await answer

    def reset(self, always: Answering) -> None:
        """As new, so that the tests of a module can share one server."""
        self.always = always
        for kept in (self.script, self.bodies, self.paths):
            kept.clear()

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self._answer, methods=["POST"])])


@contextmanager
def serving(model: ModelServer) -> Iterator[ModelServer]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(model.app(), log_level="critical", lifespan="off", http="h11")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    model.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        yield model
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join(10)
        listener.close()


def says(status: int, body: Any) -> Answering:
    return lambda _: JSONResponse(body, status_code=status)


def raw(status: int, content: bytes) -> Answering:
    return lambda _: Response(content, status_code=status)


def breaks_off(_: dict[str, Any]) -> Response:
    """Closes the connection in the middle of the answer."""

    async def part() -> Any:
        yield b"{"

    return StreamingResponse(part(), headers={"content-length": "1000"})


def silent(seconds: float) -> Answering:
    async def answer() -> Response:
        await asyncio.sleep(seconds)
        return Response(b"{}")

    return lambda _: answer()


def embeds(body: dict[str, Any], dim: int = 4) -> Response:
    """OpenAI's form, last index first; a text's vector is made of its length."""
    items = [
        {"index": i, "embedding": [float(len(t)), *[1.0] * (dim - 1)]} for i, t in enumerate(body["input"])
    ]
    return JSONResponse({"data": items[::-1]})
