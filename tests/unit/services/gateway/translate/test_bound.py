"""One message of Anthropic can become many of Chat Completions: the bound covers what stands around each."""

from typing import Any

import orjson
import pytest

from backscroll.engine.engine import Engine
from services.gateway.dialects import anthropic
from services.gateway.translate.translation import chat_prompt
from shared.tokens.prompt import Prompt
from tests.support.requests import request_of


@pytest.mark.parametrize("said", ["", "ok"])
@pytest.mark.parametrize("calls", [1, 5, 60])
def test_parallel_calls_are_bounded(calls: int, said: str) -> None:
    ids = [str(n) for n in range(calls)]
    uses = [{"type": "tool_use", "id": i, "name": "f", "input": {}} for i in ids]
    results: list[Any] = [{"type": "tool_result", "tool_use_id": i, "content": said} for i in ids]
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": uses},
        {"role": "user", "content": [*results, {"type": "text", "text": "?"}]},
    ]
    request = request_of(messages, anthropic)
    bound = request.head_tokens + int(request.shape.tokens.sum())
    prompt = chat_prompt(Prompt("anthropic", "demo", request.body.fields, request.body.messages))
    counted = Engine(2048).count({"messages": [orjson.loads(m) for m in prompt.messages]})
    assert bound >= len(counted)
