"""Any valid history, cut at every budget, is valid still: for lenient engines and for strict templates."""

import os
from itertools import cycle
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from backscroll.engine import validate_messages
from backscroll.engine.strict import mistral_faults
from services.gateway.prepare.templates import LENIENT, Template
from shared.errors import ContextLengthExceeded
from tests.support.histories import Message, histories, legacy, modern
from tests.support.pipeline import Pipeline, sent

MISTRAL = Template(strict_alternation=True, developer_role=False, tool_ids="mistral")
WINDOWS = (2048, 2304, 2700, 3072, 4096, 6144, 8192, 12_288, 16_384)
MAX_TOKENS = (None, 1, 17, 256, 1024, 4096, 100_000)
TEMPLATES = (LENIENT, MISTRAL)

attack = settings(
    max_examples=int(os.environ.get("ATTACKS", "40")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink],
)


def newest_words(messages: list[Message]) -> str:
    """How the newest of a user's or a tool's texts ends, as JSON has it."""
    content = [m["content"] for m in messages if m["role"] in ("user", "tool", "function")][-1] or ""
    text = content if isinstance(content, str) else "".join(p.get("text", "") for p in content[-1:])
    return orjson.dumps(text[-6:]).decode()[1:-1]


async def check(pipeline: Pipeline, messages: list[Message], **fields: Any) -> bool:
    """False where the client got a clear error instead."""
    try:
        prepared = await pipeline.prepare(messages, **fields)
    except ContextLengthExceeded:
        return False
    told = modern(sent(prepared))
    assert newest_words(messages) in orjson.dumps(told).decode()
    if any(m["role"] == "function" for m in messages):
        # The demo engine knows no functions: the form is checked, its count would be another one.
        assert validate_messages(told) == []
        return True
    if pipeline.template == LENIENT:
        assert validate_messages(told) == []
        assert told[-1]["role"] == messages[-1]["role"]
    else:
        assert mistral_faults(told) == []
    pipeline.engine.complete({"model": "demo", "messages": told, **_limit(prepared.body)})
    return True


def _limit(body: bytes) -> dict[str, Any]:
    return {k: v for k, v in orjson.loads(body).items() if k == "max_tokens"}


@pytest.mark.parametrize("template", TEMPLATES, ids=["lenient", "mistral"])
@attack
@given(messages=histories(size=60), shift=st.integers(0, 100), old=st.booleans())
async def test_a_history_cut_at_every_budget_is_valid(
    template: Template, messages: list[Message], shift: int, old: bool
) -> None:
    history = legacy(messages) if old and template == LENIENT else messages
    limits = cycle(MAX_TOKENS[shift % len(MAX_TOKENS) :] + MAX_TOKENS[: shift % len(MAX_TOKENS)])
    for window, max_tokens in zip(WINDOWS, limits, strict=False):
        pipeline = Pipeline(window + shift, template=template)
        await check(pipeline, history, **({} if max_tokens is None else {"max_tokens": max_tokens}))
        assert pipeline.engine.refusals == 0
