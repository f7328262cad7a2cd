"""How often texts are embedded over a replay, against what clients sent."""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from backscroll.engine.template import HEAD_ROLES
from evals.embeddings import QUERY
from evals.shown import GAP, request_texts


class CountingModel:
    """An embedding server that only counts: every text has the same vector, so that terms alone rank."""

    def __init__(self, dim: int) -> None:
        self._vector = [1.0] + [0.0] * (dim - 1)
        self.texts: list[str] = []
        """As often as they were asked for; search texts left out."""

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/embeddings", self._embed, methods=["POST"])])

    async def _embed(self, request: Request) -> JSONResponse:
        texts = orjson.loads(await request.body())["input"]
        self.texts += [text for text in texts if not text.startswith(QUERY)]
        data = [{"index": i, "embedding": self._vector} for i in range(len(texts))]
        return JSONResponse({"object": "list", "data": data})


class Said:
    """What clients sent, the head left out."""

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}

    def add(self, messages: Iterable[Mapping[str, Any]]) -> None:
        told = request_texts([m for m in messages if m["role"] not in HEAD_ROLES])
        self._texts.update(dict.fromkeys(told))

    def units(self, texts: Iterable[str]) -> set[str]:
        """Those of the texts that are a text of a client, or a part of one, each once."""
        whole = GAP.join(self._texts)
        return {text for text in set(texts) if text in self._texts or text in whole}
