"""An engine whose every byte a test decides."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

SSE = "text/event-stream"
JSON = "application/json"


@dataclass(frozen=True)
class Received:
    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Line:
    """The connection of one request, from the engine's side."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def head(self, status: int, content_type: str, *more: str) -> None:
        """Chunks may follow."""
        lines = [f"HTTP/1.1 {status} X", f"content-type: {content_type}", "transfer-encoding: chunked", *more]
        await self.write("\r\n".join(lines).encode() + b"\r\n\r\n")

    async def chunk(self, data: bytes) -> None:
        await self.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def end(self) -> None:
        await self.write(b"0\r\n\r\n")

    async def whole(self, status: int, body: bytes, content_type: str = JSON, *more: str) -> None:
        lines = [
            f"HTTP/1.1 {status} X",
            f"content-type: {content_type}",
            f"content-length: {len(body)}",
            *more,
        ]
        await self.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    async def stream(self, *chunks: bytes) -> None:
        await self.head(200, SSE)
        for chunk in chunks:
            await self.chunk(chunk)
        await self.end()

    async def break_off(self) -> None:
        self._writer.close()

    async def until_closed(self) -> None:
        """Returns when the other side hangs up."""
        with suppress(ConnectionError):
            await self._reader.read()


Script = Callable[[Received, Line], Awaitable[None]]


@dataclass
class RawEngine:
    """`script` answers what has no entry in `paths`; what nobody scripted is 404."""

    url: str = ""
    script: Script | None = None
    paths: dict[str, Script] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    """What `script` was asked."""
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the other side closed a connection before `script` was through."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = Line(reader, writer)
        try:
            while not writer.is_closing():
                request = await _read(reader)
                await self._answer(request, line)
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def _answer(self, request: Received, line: Line) -> None:
        path = request.target.partition("?")[0]
        script = self.paths.get(path)
        if script is None and path in ("/v1/chat/completions", "/v1/responses", "/v1/messages"):
            script = self.script
        if script is None:
            await line.whole(404, b'{"error":{"message":"no such path"}}')
            return
        self.received.append(request)
        await script(request, line)

    async def stall(self, line: Line) -> None:
        """Silence until the other side has enough of it."""
        await line.until_closed()
        self.hung_up.set()


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    pairs = [line.partition(":") for line in head[1:] if line]
    headers = [(name.lower(), value.strip()) for name, _, value in pairs]
    told = dict(headers)
    if told.get("transfer-encoding") == "chunked":
        parts = []
        while size := int((await reader.readuntil(b"\r\n")).strip(), 16):
            parts.append((await reader.readexactly(size + 2))[:-2])
        await reader.readexactly(2)
        return Received(method, target, headers, b"".join(parts))
    body = await reader.readexactly(int(told.get("content-length", 0)))
    return Received(method, target, headers, body)


@asynccontextmanager
async def raw_engine() -> AsyncIterator[RawEngine]:
    engine = RawEngine()
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        task.add_done_callback(connections.discard)
        with suppress(asyncio.CancelledError):
            await engine.serve(reader, writer)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    engine.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield engine
    finally:
        server.close()
        for task in [*connections]:
            task.cancel()
        await asyncio.gather(*connections)
        # Closing takes the loop one more round.
        await asyncio.sleep(0)
