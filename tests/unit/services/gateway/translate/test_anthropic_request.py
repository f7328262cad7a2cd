"""Requests of the Messages API, in Chat Completions."""

from typing import Any

import pytest

from tests.unit.services.gateway.translate.requests import (
    ASSISTANT_CALLS,
    CALLS_IN_CHAT,
    DATA_URL,
    PNG,
    SCHEMA,
    from_anthropic,
    function,
    image,
    result,
    text,
    tool,
    use,
    user,
)

ANTHROPIC_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
LINKED = {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([user(text("a"), text("b"))], [{"role": "user", "content": "a\nb"}]),
        ([{"role": "user", "content": "hi"}], [{"role": "user", "content": "hi"}]),
        (
            [user(text("what is it?"), ANTHROPIC_IMAGE, LINKED)],
            [{"role": "user", "content": [text("what is it?"), image(DATA_URL), image("https://x/y.png")]}],
        ),
        (
            [ASSISTANT_CALLS, user(result("a", "1"), result("b", [text("2"), text("3")]), text("go on"))],
            [CALLS_IN_CHAT, tool("a", "1"), tool("b", "2\n3"), {"role": "user", "content": "go on"}],
        ),
        (
            [ASSISTANT_CALLS, user(text("look:"), result("a", [text("seen"), LINKED]), result("b", None))],
            [
                CALLS_IN_CHAT,
                tool("a", "seen"),
                tool("b", ""),
                {"role": "user", "content": [image("https://x/y.png"), text("look:")]},
            ],
        ),
        (
            [
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
                {"role": "assistant", "content": [use("a")]},
            ],
            [{"role": "assistant", "content": None, "tool_calls": [function("a", "{}")]}],
        ),
        (
            [user({"type": "document", "title": "T", "source": {"type": "text", "data": "body"}})],
            [{"role": "user", "content": "T\nbody"}],
        ),
        (
            [user({"type": "search_result", "title": "T", "source": "s", "content": [text("found")]})],
            [{"role": "user", "content": "T\ns\nfound"}],
        ),
    ],
)
def test_anthropic_messages(messages: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    assert from_anthropic(*messages)["messages"] == expected


def test_anthropic_fields() -> None:
    asked = from_anthropic(
        user(text("hi")),
        system=[text("Be brief."), text("Be kind.") | {"cache_control": {"type": "ephemeral"}}],
        max_tokens=9,
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        min_p=0.1,
        stop_sequences=["END"],
        stream=True,
        metadata={"user_id": "u"},
        thinking={"type": "enabled", "budget_tokens": 1024},
        tools=[{"name": "find", "description": "d", "input_schema": SCHEMA, "cache_control": {}}],
        tool_choice={"type": "any", "disable_parallel_tool_use": True},
        output_config={"format": {"type": "json_schema", "schema": SCHEMA}},
    )
    assert asked == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief.\nBe kind."}, {"role": "user", "content": "hi"}],
        "max_tokens": 9,
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 40,
        "min_p": 0.1,
        "stop": ["END"],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {"type": "function", "function": {"name": "find", "description": "d", "parameters": SCHEMA}}
        ],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
        },
    }


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "auto"}, "auto"),
        ({"type": "none"}, "none"),
        ({"type": "tool", "name": "find"}, {"type": "function", "function": {"name": "find"}}),
    ],
)
def test_anthropic_tool_choice(choice: dict[str, Any], expected: Any) -> None:
    tools = [{"name": "find", "input_schema": SCHEMA}]
    assert from_anthropic(user(text("hi")), tools=tools, tool_choice=choice)["tool_choice"] == expected
    assert "tool_choice" not in from_anthropic(user(text("hi")), tools=[], tool_choice=choice)
