"""An engine that keeps what it was sent: prompts are judged as the engine received them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from backscroll.engine.template import prompt_ids
from backscroll.engine.tokens import Ids, shared_encoder
from backscroll.engine.validate import validate_messages
from shared.prompt.budget import Limits, plan_budget

LARGEST = 1 << 24


def window_for(budget: int, limits: Limits, *, works_with_tools: bool = False) -> int:
    """The least window whose recent turns and memory block together may take `budget` tokens.

    What else is usable is room to grow, which a single question does not need.
    """
    low, high = 1, LARGEST
    while low < high:
        middle = (low + high) // 2
        lines = plan_budget(middle, None, 0, limits, works_with_tools=works_with_tools)
        low, high = (low, middle) if lines.recent + lines.memory >= budget else (middle + 1, high)
    return low


def model_for(budget: int, share: int = 100) -> str:
    """The capturing engine has a model for each budget, and for shares (percent) of it."""
    return f"b{budget}" if share == 100 else f"b{budget}-{share}"


@dataclass(frozen=True)
class Prompt:
    """A request as the engine received it."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    tokens: int
    """Of all of it, as the chat template makes it."""
    ids: Ids
    invalid: list[str]
    """What a strict chat template refuses, a prompt above the window included."""


class Capture:
    """Serves one model for each entry of `windows`; keeps the newest prompt of each model and session."""

    def __init__(self, windows: Mapping[str, int]) -> None:
        self.windows = dict(windows)
        self._prompts: dict[tuple[str, str], Prompt] = {}

    def take(self, model: str, session: str) -> Prompt:
        """Each prompt once; KeyError where the engine was not called."""
        return self._prompts.pop((model, session))

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
        count = len(rendered(body["messages"], body.get("tools") or ()))
        return JSONResponse({"count": count, "max_model_len": self.windows[body["model"]]})

    async def _chat(self, request: Request) -> JSONResponse:
        body = orjson.loads(await request.body())
        model, messages, tools = body["model"], body["messages"], body.get("tools") or []
        ids = rendered(messages, tools)
        invalid = validate_messages(messages)
        if len(ids) >= self.windows[model]:
            invalid.append(f"{len(ids)} tokens for a window of {self.windows[model]}")
        session = request.headers["x-session-id"]
        self._prompts[model, session] = Prompt(messages, tools, len(ids), ids, invalid)
        answer = {"role": "assistant", "content": "ok"}
        usage = {"prompt_tokens": len(ids), "completion_tokens": 1, "total_tokens": len(ids) + 1}
        choice = {"index": 0, "message": answer, "finish_reason": "stop"}
        return JSONResponse({"object": "chat.completion", "choices": [choice], "usage": usage})


def rendered(messages: Any, tools: Any = ()) -> Ids:
    """The tokens of a prompt."""
    return prompt_ids(shared_encoder(), messages, tools, add_generation_prompt=True, image_tokens=0)
