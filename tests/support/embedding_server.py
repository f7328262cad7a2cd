"""An OpenAI-style embedding server whose vectors are word hashes."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.support.hashing import DIM, hashed
from tests.support.model_server import ModelServer, serving


class EmbeddingServer:
    """`down` answers 503, `refuses` picks texts that get a 400, `delay_s` makes each call take its time.

    `texts` are those that got a vector, in order, `refused` counts the calls that got none.
    """

    dim = DIM

    def __init__(self) -> None:
        self.down = False
        self.refuses: Callable[[str], bool] = lambda _: False
        self.delay_s = 0.0
        self.texts: list[str] = []
        self.refused = 0
        self.url = ""

    async def answer(self, body: dict[str, Any]) -> Response:
        texts: list[str] = body["input"]
        await asyncio.sleep(self.delay_s)
        if self.down:
            self.refused += 1
            return JSONResponse({"error": {"message": "loading the model"}}, 503)
        if any(map(self.refuses, texts)):
            self.refused += 1
            return JSONResponse({"error": {"message": "this text cannot be embedded"}}, 400)
        vectors = await asyncio.to_thread(lambda: [hashed(text).tolist() for text in texts])
        self.texts += texts
        return JSONResponse({"data": [{"index": i, "embedding": v} for i, v in enumerate(vectors)]})


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    server = EmbeddingServer()
    with serving(ModelServer(server.answer)) as running:
        server.url = f"{running.url}/v1"
        yield server
