"""Requests of the other dialects, in Chat Completions."""

import base64
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backscroll.engine import validate_messages
from services.gateway.prepare.templates import Template
from services.gateway.translate.translation import Translation, chat_prompt
from shared.errors import InvalidRequest
from shared.tokens.prompt import Prompt

PNG = "iVBORw0KGgo="
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}


def chat(dialect: str, **body: Any) -> dict[str, Any]:
    translated: dict[str, Any] = orjson.loads(Translation(dialect, orjson.dumps({"model": "m", **body})).body)
    return translated


def from_anthropic(*messages: dict[str, Any], **body: Any) -> dict[str, Any]:
    return chat("anthropic", messages=list(messages), **body)


def from_responses(*items: dict[str, Any], **body: Any) -> dict[str, Any]:
    return chat("responses", input=list(items), **body)


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def use(identity: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": "find", "input": arguments}


def result(identity: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identity, "content": content}


def function(identity: str, arguments: str) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": "find", "arguments": arguments}}


def image(url: str, **detail: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url, **detail}}


def tool(identity: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": content}


DATA_URL = f"data:image/png;base64,{PNG}"
ANTHROPIC_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
LINKED = {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}
ASSISTANT_CALLS = {"role": "assistant", "content": [text("I look."), use("a", q="x"), use("b")]}
CALLS_IN_CHAT = {
    "role": "assistant",
    "content": "I look.",
    "tool_calls": [function("a", '{"q":"x"}'), function("b", "{}")],
}


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


def call_item(identity: str, arguments: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": identity, "name": "find", "arguments": arguments}


def output_item(identity: str, output: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": identity, "output": output}


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


@pytest.mark.parametrize(
    ("dialect", "body", "field"),
    [
        (
            "anthropic",
            {"messages": [user({"type": "server_tool_use", "id": "a"})]},
            "messages[0].content[0].type",
        ),
        (
            "anthropic",
            {"messages": [user({"type": "image", "source": {"type": "file", "file_id": "f"}})]},
            "messages[0].content[0].source",
        ),
        (
            "anthropic",
            {"messages": [user({"type": "document", "source": {"type": "base64", "data": ""}})]},
            "messages[0].content[0].source",
        ),
        (
            "anthropic",
            {"messages": [], "tools": [{"type": "bash_20250124", "name": "bash"}]},
            "tools[0].type",
        ),
        ("anthropic", {"messages": [], "mcp_servers": [{"url": "x"}]}, "mcp_servers"),
        ("anthropic", {"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ("anthropic", {"messages": 5}, "messages"),
        ("responses", {"input": "x", "previous_response_id": "r"}, "previous_response_id"),
        ("responses", {"input": "x", "conversation": {"id": "c"}}, "conversation"),
        ("responses", {"input": "x", "background": True}, "background"),
        ("responses", {"input": "x", "tools": [{"type": "custom", "name": "p"}]}, "tools[0].type"),
        ("responses", {"input": "x", "tools": [], "tool_choice": {"type": "mcp"}}, "tool_choice"),
        ("responses", {"input": [{"type": "item_reference", "id": "i"}]}, "input[0].type"),
        ("responses", {"input": [user({"type": "input_image", "file_id": "f"})]}, "input[0].content[0]"),
        (
            "responses",
            {"input": [user({"type": "input_file", "file_data": "data:application/pdf;base64,x"})]},
            "input[0].content[0].file_data",
        ),
        ("responses", {"input": [output_item("a", 5)]}, "input[0].output"),
        ("responses", {"input": "x", "text": "json"}, "text"),
        ("anthropic", {"messages": [user(text("a"))], "output_config": "json"}, "output_config"),
        (
            "anthropic",
            {"messages": [user(text("a"))], "output_config": {"format": 5}},
            "output_config.format",
        ),
    ],
)
def test_what_has_no_counterpart_is_named(dialect: str, body: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        chat(dialect, **body)
    assert raised.value.field == field
    assert f"'{field}'" in str(raised.value)


def test_the_engines_template_is_kept_to() -> None:
    body = orjson.dumps(
        {
            "model": "m",
            "messages": [
                user(text("a")),
                user(text("b")),
                ASSISTANT_CALLS,
                user(result("a", "1"), result("b", "2")),
            ],
        }
    )
    strict = Template(strict_alternation=True, tool_ids="mistral")
    messages = orjson.loads(Translation("anthropic", body, strict).body)["messages"]
    assert messages[0]["content"] == "a\n\nb"
    assert all(len(m["tool_call_id"]) == 9 for m in messages if m["role"] == "tool")


def test_a_prompt_is_counted_as_it_is_sent() -> None:
    tools = orjson.dumps([{"name": "find", "input_schema": SCHEMA}])
    fields = {"model": b'"m"', "max_tokens": b"9", "system": b'"Be brief."', "tools": tools}
    counted = chat_prompt(Prompt("anthropic", "m", fields, [orjson.dumps(user(text("hi")))]))
    sent = from_anthropic(user(text("hi")), system="Be brief.", tools=orjson.loads(tools))
    assert (counted.dialect, counted.model) == ("chat", "m")
    assert [orjson.loads(m) for m in counted.messages] == sent["messages"]
    assert orjson.loads(counted.fields["tools"]) == sent["tools"]


words = st.text(min_size=1, max_size=8)
values = st.dictionaries(words, words, max_size=2)


@given(st.lists(st.tuples(st.lists(values, max_size=3), words, st.booleans()), min_size=1, max_size=5))
def test_every_history_of_calls_is_valid_and_nothing_is_lost(
    turns: list[tuple[list[dict[str, str]], str, bool]],
) -> None:
    messages: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    for n, (calls, said, beside) in enumerate(turns):
        messages.append(user(text(said)))
        items.append({"role": "user", "content": said})
        if not calls:
            continue
        ids = [f"c{n}-{i}" for i in range(len(calls))]
        messages.append(
            {"role": "assistant", "content": [use(i, **c) for i, c in zip(ids, calls, strict=True)]}
        )
        items += [call_item(i, orjson.dumps(c).decode()) for i, c in zip(ids, calls, strict=True)]
        extra = [text(said)] if beside else []
        messages.append(user(*extra, *(result(i, said) for i in ids)))
        items += [output_item(i, said) for i in ids]
    for built in (from_anthropic(*messages)["messages"], from_responses(*items)["messages"]):
        assert validate_messages(built) == []
        made = [c["function"]["arguments"] for m in built for c in m.get("tool_calls", [])]
        assert [orjson.loads(a) for a in made] == [c for calls, _, _ in turns for c in calls]
