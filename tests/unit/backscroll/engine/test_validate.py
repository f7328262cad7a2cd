"""Each list breaks one rule of strict templates; the valid ones are what clients really send."""

from typing import Any

import pytest

from backscroll.engine import validate_messages

USER = {"role": "user", "content": "hi"}


def call(*ids: str, content: str | None = None, arguments: str = "{}") -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "done"}


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [USER, USER],
        [{"role": "system", "content": "s"}, {"role": "developer", "content": "d"}, USER],
        [USER, call("1", "2"), result("2"), result("1"), USER],
        [USER, call("1", content=""), result("1"), call("1"), result("1")],
        [USER, {"role": "assistant", "content": ""}, USER],
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}],
        [USER, {"role": "system", "content": "later"}, USER],
    ],
)
def test_accepts(messages: list[Any]) -> None:
    assert validate_messages(messages) == []


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([], "empty"),
        ([{"role": "system", "content": "s"}], "No user query"),
        ([{"role": "user", "content": ""}], "No user query"),
        ([{"role": "human", "content": "hi"}, USER], "unexpected message role"),
        ([USER, result("1")], "must be a response to a preceding message"),
        ([result("1"), USER], "must be a response to a preceding message"),
        ([USER, call("1"), USER, result("1")], "must be a response to a preceding message"),
        ([USER, call("1"), result("1"), result("1")], "must be a response to a preceding message"),
        ([USER, call("1", "2"), result("1"), USER], "'2' is not followed"),
        ([USER, call("1")], "'1' is not followed"),
        ([USER, call("1", "1"), result("1")], "used twice"),
        ([USER, call("1", arguments='{"a":'), result("1")], "not JSON"),
        ([USER, {"role": "assistant", "content": None}], "null only beside tool calls"),
        ([{"role": "user", "content": None}, USER], "null only beside tool calls"),
        ([{"role": "user", "content": 3}], "string or a list"),
        ([{"role": "user", "content": [{"type": "text"}]}], "every part"),
        ([{"role": "user", "content": "half \ud83d"}], "lone surrogate"),
        (["hi", USER], "not an object"),
    ],
)
def test_names_the_fault(messages: list[Any], fault: str) -> None:
    assert any(fault in text for text in validate_messages(messages))
