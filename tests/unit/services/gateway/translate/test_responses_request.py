"""Requests of the Responses API, in Chat Completions."""

import base64
from typing import Any

import pytest

from tests.unit.services.gateway.translate.requests import (
    CALLS_IN_CHAT,
    DATA_URL,
    SCHEMA,
    call_item,
    chat,
    from_responses,
    function,
    image,
    output_item,
    text,
    tool,
    user,
)

INPUT_TEXT = {"type": "input_text", "text": "hi"}
OUTPUT_TEXT = {"type": "output_text", "text": "I look.", "annotations": []}
TEXT_FILE = "data:text/plain;base64," + base64.b64encode("häfen".encode()).decode()


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([{"role": "user", "content": "hi"}], [{"role": "user", "content": "hi"}]),
        (
            [user(INPUT_TEXT, {"type": "input_image", "image_url": DATA_URL, "detail": "low"})],
            [{"role": "user", "content": [text("hi"), image(DATA_URL, detail="low")]}],
        ),
        (
            [
                {"type": "reasoning", "id": "rs", "summary": []},
                {"type": "message", "role": "assistant", "content": [OUTPUT_TEXT]},
                call_item("a", '{"q":"x"}'),
                call_item("b", ""),
                output_item("b", [{"type": "input_text", "text": "2"}]),
                output_item("a", "1"),
            ],
            [CALLS_IN_CHAT, tool("b", "2"), tool("a", "1")],
        ),
        (
            [call_item("a", "{}"), output_item("a", [{"type": "input_image", "image_url": DATA_URL}])],
            [
                {"role": "assistant", "content": None, "tool_calls": [function("a", "{}")]},
                tool("a", ""),
                {"role": "user", "content": [image(DATA_URL)]},
            ],
        ),
        # Its first result came while the model still spoke.
        (
            [
                call_item("a", "{}"),
                call_item("b", "{}"),
                output_item("a", [{"type": "input_image", "image_url": DATA_URL}]),
                {"type": "message", "role": "assistant", "content": [OUTPUT_TEXT]},
                call_item("c", "{}"),
                output_item("b", "2"),
                output_item("c", "3"),
                call_item("d", "{}"),
                output_item("d", "4"),
            ],
            [
                {
                    "role": "assistant",
                    "content": "I look.",
                    "tool_calls": [function(name, "{}") for name in "abc"],
                },
                tool("a", ""),
                tool("b", "2"),
                tool("c", "3"),
                {"role": "user", "content": [image(DATA_URL)]},
                {"role": "assistant", "content": None, "tool_calls": [function("d", "{}")]},
                tool("d", "4"),
            ],
        ),
        # The call was never answered: what follows is not taken for a part of its message.
        (
            [call_item("a", "{}"), user(INPUT_TEXT), {"role": "assistant", "content": "Yes."}],
            [
                {"role": "assistant", "content": None, "tool_calls": [function("a", "{}")]},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "Yes."},
            ],
        ),
        (
            [{"role": "developer", "content": "More."}, user(INPUT_TEXT)],
            [{"role": "system", "content": "Be brief.\n\nMore."}, {"role": "user", "content": "hi"}],
        ),
        (
            [user({"type": "input_file", "filename": "a.txt", "file_data": TEXT_FILE})],
            [{"role": "user", "content": "a.txt\nhäfen"}],
        ),
    ],
)
def test_responses_items(items: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    messages = from_responses(*items, instructions="Be brief.")["messages"]
    if expected[0]["role"] != "system":
        assert messages.pop(0) == {"role": "system", "content": "Be brief."}
    assert messages == expected


def test_responses_fields() -> None:
    asked = chat(
        "responses",
        input="hi",
        max_output_tokens=9,
        temperature=0.5,
        stream=True,
        store=False,
        include=["reasoning.encrypted_content"],
        reasoning={"effort": "low"},
        prompt_cache_key="k",
        tools=[{"type": "function", "name": "find", "parameters": SCHEMA, "strict": True}],
        tool_choice={"type": "function", "name": "find"},
        parallel_tool_calls=False,
        text={"format": {"type": "json_schema", "name": "code", "schema": SCHEMA, "strict": True}},
    )
    find = {"name": "find", "parameters": SCHEMA, "strict": True}
    assert asked == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 9,
        "temperature": 0.5,
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [{"type": "function", "function": find}],
        "tool_choice": {"type": "function", "function": {"name": "find"}},
        "parallel_tool_calls": False,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "code", "schema": SCHEMA, "strict": True},
        },
    }


def test_allowed_tools_are_the_only_ones_offered() -> None:
    tools = [{"type": "function", "name": name, "parameters": SCHEMA} for name in ("find", "open")]
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "open"}]}
    asked = from_responses(user(INPUT_TEXT), tools=tools, tool_choice=allowed)
    assert [t["function"]["name"] for t in asked["tools"]] == ["open"]
    assert asked["tool_choice"] == "required"
