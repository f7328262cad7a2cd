"""An engine that keeps what it was sent: prompts are judged as the engine received them."""

from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from backscroll.engine.template import message_text, prompt_ids
from backscroll.engine.tokens import shared_encoder
from backscroll.engine.validate import validate_messages

RESERVE = 32
"""The window over the output reserve that Backscroll keeps without `max_tokens`."""
SLACK = 8


def window_for(budget: int) -> int:
    """The window whose recent turns and memory block together may take `budget` tokens.

    Half of what is usable; the other half is room to grow, which a single question does not need.
    """
    return (2 * budget + SLACK) * RESERVE // (RESERVE - 1) + 1


class Capture:
    """Models `b4096`, `b8192`, ...: one for each budget, told apart by name."""

    def __init__(self, budgets: list[int]) -> None:
        self.windows = {f"b{budget}": window_for(budget) for budget in budgets}
        self.prompts: dict[tuple[str, str], dict[str, Any]] = {}
        self.invalid: list[str] = []

    def app(self) -> Starlette:
        routes = [
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
            Route("/v1/models", self._models),
            Route("/tokenize", self._tokenize, methods=["POST"]),
        ]
        return Starlette(routes=routes)

    async def _models(self, _: Request) -> JSONResponse:
        models = [{"id": name, "max_model_len": window} for name, window in self.windows.items()]
        return JSONResponse({"object": "list", "data": models})

    async def _tokenize(self, request: Request) -> JSONResponse:
        body = orjson.loads(await request.body())
        return JSONResponse({"count": _count(body), "max_model_len": self.windows[body["model"]]})

    async def _chat(self, request: Request) -> JSONResponse:
        body = orjson.loads(await request.body())
        tokens = _count(body)
        self.invalid += validate_messages(body["messages"])
        if tokens >= self.windows[body["model"]]:
            self.invalid.append(f"{tokens} tokens for a window of {self.windows[body['model']]}")
        key = (body["model"], request.headers["x-session-id"])
        text = "\n".join(message_text(m) for m in body["messages"])
        self.prompts[key] = {"text": text, "tokens": tokens, "messages": body["messages"]}
        answer = {"role": "assistant", "content": "ok"}
        usage = {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1}
        choice = {"index": 0, "message": answer, "finish_reason": "stop"}
        return JSONResponse({"object": "chat.completion", "choices": [choice], "usage": usage})


def _count(body: dict[str, Any]) -> int:
    ids = prompt_ids(
        shared_encoder(),
        body["messages"],
        body.get("tools") or (),
        add_generation_prompt=True,
        image_tokens=0,
    )
    return len(ids)
