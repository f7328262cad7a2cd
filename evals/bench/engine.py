"""An engine that takes no time: it reads nothing, counts by the length of the body and answers at once."""

import asyncio
from multiprocessing.connection import Connection
from typing import cast

import orjson

from evals.bench.history import MODEL, TOKENS_PER_BYTE

WINDOW = 32_768


class _Protocol(asyncio.Protocol):
    """Just enough HTTP/1.1 for the gateway's client: bodies with a length, connections that stay."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._path = b""
        self._length = 0
        self._left = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._left:
            self._took(len(data))
            return
        self._head += data
        end = self._head.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._head[:end])
        rest = len(self._head) - end - 4
        self._head.clear()
        self._path = head.split(b" ", 2)[1]
        lines = head.lower().split(b"\r\n")
        lengths = [line[15:] for line in lines if line.startswith(b"content-length:")]
        self._length = self._left = int(lengths[0]) if lengths else 0
        self._took(rest)

    def _took(self, size: int) -> None:
        self._left -= size
        if self._left == 0:
            body = orjson.dumps(answer(self._path, self._length))
            head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
            self._transport.write(head % len(body) + body)


def answer(path: bytes, length: int) -> dict[str, object]:
    count = int(length * TOKENS_PER_BYTE) + 1
    if path.endswith(b"/models"):
        return {"object": "list", "data": [{"id": MODEL, "object": "model", "max_model_len": WINDOW}]}
    if path.endswith(b"/tokenize"):
        return {"count": count, "max_model_len": WINDOW}
    message = {"role": "assistant", "content": "Yes."}
    return {
        "id": "bench",
        "object": "chat.completion",
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": count, "completion_tokens": 2, "total_tokens": count + 2},
    }


def run_engine(told: Connection) -> None:
    """Tells its port; ends with the process that started it."""

    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(_Protocol, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())
