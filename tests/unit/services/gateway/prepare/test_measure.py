"""A tip's count holds for the bytes that were counted, and for nothing else."""

import copy
from typing import Any

import orjson
import pytest

from shared.errors import ContextLengthExceeded
from tests.support.pipeline import Pipeline

Message = dict[str, Any]
TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]


def history(length: int) -> list[Message]:
    return [
        {"role": role, "content": f"{number}: the river rose in the night and nobody knew. " * 6}
        for number in range(length)
        for role in ("user", "assistant")
    ] + [{"role": "user", "content": "why?"}]


BASE = [{"role": "system", "content": "It is 10:11."}, *history(35)]


def other_clock(messages: list[Message]) -> None:
    messages[0]["content"] = "It is 10:12."


def system_message_inside(messages: list[Message]) -> None:
    messages.insert(5, {"role": "system", "content": "Be brief."})


def reasoning_kept(messages: list[Message]) -> None:
    messages[2]["reasoning_content"] = "because of the rain"


def call_marked(messages: list[Message]) -> None:
    messages[3]["cache_control"] = {"type": "ephemeral"}


@pytest.mark.parametrize(
    ("change", "asks"),
    [(other_clock, False), (system_message_inside, True), (reasoning_kept, True), (call_marked, False)],
)
async def test_what_was_counted_is_not_counted_again(change: Any, asks: bool) -> None:
    pipeline = Pipeline(8192)
    await pipeline.ask(BASE)
    asked = pipeline.counter.counted
    assert asked == 1
    grown = [
        *copy.deepcopy(BASE),
        {"role": "assistant", "content": "rain"},
        {"role": "user", "content": "ok"},
    ]
    change(grown)
    prepared = await pipeline.ask(grown)
    assert (pipeline.counter.counted > asked) == asks
    assert prepared.measured.tokens >= len(pipeline.engine.count({"messages": grown}))


async def test_tools_that_are_new_are_added_to_what_was_counted() -> None:
    pipeline = Pipeline(8192)
    await pipeline.ask(BASE)
    prepared = await pipeline.ask(BASE, tools=TOOLS)
    assert prepared.measured.tokens >= len(pipeline.engine.count({"messages": BASE, "tools": TOOLS}))


async def test_images_are_added_to_what_a_tokenizer_says() -> None:
    pipeline = Pipeline(8192, image_tokens=100)
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages = [*BASE[:61], {"role": "user", "content": [{"type": "text", "text": "what?"}, picture]}]
    prepared = await pipeline.prepare(messages)
    assert prepared.measured.counted is not None
    counted = len(pipeline.engine.count({"messages": messages}))
    assert prepared.measured.counted >= counted
    assert not prepared.measured.exact


async def test_where_nobody_counts_what_likely_fits_is_sent_and_what_cannot_is_not() -> None:
    pipeline = Pipeline(4096)
    pipeline.counter.blind = True
    asked = {"role": "user", "content": "And what is the harbour master called?"}
    likely = {"role": "system", "content": "You keep the books of the harbour and answer plainly. " * 180}
    prepared = await pipeline.ask([likely, asked], max_tokens=4096)
    assert prepared.measured.tokens > prepared.limit
    assert orjson.loads(prepared.body)["max_tokens"] == prepared.window - 8 - prepared.limit
    hopeless = {"role": "system", "content": likely["content"] * 5}
    with pytest.raises(ContextLengthExceeded):
        await pipeline.prepare([hopeless, asked])
    assert pipeline.engine.refusals == 0
