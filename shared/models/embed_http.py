"""An OpenAI-style `/embeddings` server: vLLM, SGLang, TEI, infinity, llama.cpp, Ollama."""

from collections.abc import Sequence
from typing import Any

from shared.errors import BadAnswer, DependencyUnavailable
from shared.models.port import Vector
from shared.models.server import BatchTooBig, ModelServer, sendable
from shared.models.vectors import PART, unit_vectors

BATCH_TOKENS = 16_384


class HttpEmbedder:
    """`url` is the base (`http://host:8080/v1`) or the endpoint (`http://host:8080/embeddings`).

    `batch` shrinks for good when the server says that it takes fewer inputs. Errors as in the port.
    """

    def __init__(
        self, url: str, model: str, dim: int, *, batch: int, timeout_s: float, query_prefix: str = ""
    ) -> None:
        self.name = model
        self.dim = dim
        self.batch = batch
        self.batch_tokens = BATCH_TOKENS
        self._query_prefix = query_prefix
        self._server = ModelServer(url, "/embeddings", PART, timeout_s)

    async def passages(self, texts: Sequence[str]) -> list[Vector]:
        vectors: list[Vector] = []
        while len(vectors) < len(texts):
            group = texts[len(vectors) : len(vectors) + self.batch]
            try:
                vectors += await self._embed(group)
            except BatchTooBig as refusal:
                if len(group) == 1:
                    raise DependencyUnavailable(
                        PART, "the server refuses even one input a request"
                    ) from refusal
                self.batch = min(self.batch, refusal.smaller(len(group)))
        return vectors

    async def query(self, text: str) -> Vector:
        return (await self.passages([self._query_prefix + text]))[0]

    async def close(self) -> None:
        await self._server.close()

    async def _embed(self, texts: Sequence[str]) -> list[Vector]:
        body = {"model": self.name, "input": [sendable(text) for text in texts]}
        return unit_vectors(_rows(await self._server.post(body)), len(texts), self.dim)


def _rows(answer: Any) -> list[Any]:
    """Embeddings in the order asked.

    llama.cpp's `/embeddings` without `/v1` answers with a bare list and each vector in a list of its own.
    """
    items = answer.get("data") if isinstance(answer, dict) else answer
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BadAnswer(PART, "the answer has no list of embeddings")
    places = [item.get("index", place) for place, item in enumerate(items)]
    if sorted(map(str, places)) != sorted(map(str, range(len(items)))):
        raise BadAnswer(PART, "the answer's indices are not those of the request")
    rows: list[Any] = [None] * len(items)
    for place, item in zip(places, items, strict=True):
        row = item.get("embedding")
        nested = isinstance(row, list) and len(row) == 1 and isinstance(row[0], list)
        rows[place] = row[0] if nested else row
    return rows
