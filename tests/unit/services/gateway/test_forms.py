"""Inputs that broke systems of this kind: the form of what is sent."""

from typing import Any

import orjson
import pytest

from backscroll.engine import validate_messages
from backscroll.engine.strict import mistral_faults
from services.gateway.prepare.templates import Template
from tests.support.pipeline import Pipeline, sent

MISTRAL = Template(strict_alternation=True, developer_role=False, tool_ids="mistral")
LINE = "the order was shipped to the second warehouse after a call about invoice number 200\n"
Message = dict[str, Any]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def says(text: str) -> Message:
    return {"role": "assistant", "content": text}


def calls(*ids: str, content: str | None = None) -> Message:
    function = {"name": "search", "arguments": "{}"}
    made = [{"id": i, "type": "function", "function": function} for i in ids]
    return {"role": "assistant", "content": content, "tool_calls": made}


def result(call: str, text: str = "found") -> Message:
    return {"role": "tool", "tool_call_id": call, "content": text}


async def test_of_two_results_the_giant_is_cut_and_both_stay() -> None:
    pipeline = Pipeline(2048)
    messages = [user("find it"), calls("c1", "c2"), result("c1", "small"), result("c2", LINE * 400)]
    told = sent(await pipeline.ask(messages))
    assert [m["role"] for m in told] == ["user", "assistant", "tool", "tool"]
    assert told[2] == messages[2]
    assert told[3]["tool_call_id"] == "c2"
    assert told[3]["content"].endswith(LINE)


@pytest.mark.parametrize("lines", range(1, 40, 3))
async def test_a_prompt_never_begins_with_a_result(lines: int) -> None:
    pipeline = Pipeline(2048)
    messages = [user("go")]
    for step in range(12):
        messages += [calls(f"c{step}"), result(f"c{step}", LINE * (lines if step % 3 else 9))]
        told = sent(await pipeline.ask(messages))
        assert validate_messages(told) == []
        assert told[0]["role"] == "user"
    assert pipeline.engine.refusals == 0


async def test_two_users_stay_two_in_what_is_stored_and_become_one_for_a_strict_engine() -> None:
    told = [{"role": "system", "content": "S"}, user("the context"), user(LINE * 380 + "the question")]
    lenient, strict = Pipeline(8192), Pipeline(8192, template=MISTRAL)
    as_it_came = await lenient.ask(told)
    merged = await strict.ask(told)
    stored = [[[m.address for m in e.messages] for e in p.bus.published] for p in (lenient, strict)]
    assert stored[0] == stored[1]
    assert len(stored[0][0]) == 2
    assert lenient.state.values.keys() == strict.state.values.keys()
    assert sent(as_it_came) == told
    assert mistral_faults(sent(merged)) == []


@pytest.mark.parametrize("content", [None, ""])
@pytest.mark.parametrize("window", [2048, 32_768])
async def test_empty_content_beside_calls_is_forwarded_as_it_came(content: str | None, window: int) -> None:
    pipeline = Pipeline(window)
    asked = calls("c1", content=content)
    prepared = await pipeline.ask([user(LINE * 300), says("yes"), user("find it"), asked, result("c1")])
    assert prepared.mode == ("assembled" if window == 2048 else "passthrough")
    assert orjson.dumps(asked) in prepared.body


async def test_a_head_of_half_the_window_leaves_room_to_grow() -> None:
    pipeline = Pipeline(4096)
    messages = [{"role": "system", "content": LINE * (2048 // 18)}]
    evicted = 0
    for turn in range(40):
        messages.append(user(f"question {turn} {LINE}"))
        prepared = await pipeline.ask(messages)
        evicted += prepared.plan is not None and prepared.plan.action not in ("reuse",)
        messages.append(says(f"answer {turn} {LINE}"))
    assert 0 < evicted <= 8
