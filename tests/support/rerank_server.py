"""A rerank server of vLLM's form that scores by shared words."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.responses import JSONResponse, Response

from shared.models.rerank_shapes import PROBE_ANSWER
from shared.text.terms import tokens
from tests.support.model_server import ModelServer, serving


class RerankServer:
    """`down` answers 503."""

    def __init__(self) -> None:
        self.down = False
        self.asked = 0
        self.url = ""

    def answer(self, body: dict[str, Any]) -> Response:
        self.asked += 1
        if self.down:
            return JSONResponse({"error": {"message": "loading the model"}}, 503)
        wanted = set(tokens(body["query"]))
        scores = [
            0.99 if text == PROBE_ANSWER else 0.9 * len(wanted & set(tokens(text))) / max(len(wanted), 1)
            for text in body["documents"]
        ]
        return JSONResponse({"results": [{"index": i, "relevance_score": s} for i, s in enumerate(scores)]})


@contextmanager
def rerank_server() -> Iterator[RerankServer]:
    server = RerankServer()
    with serving(ModelServer(server.answer)) as running:
        server.url = running.url
        yield server
