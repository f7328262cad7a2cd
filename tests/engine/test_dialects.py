"""Every dialect that this server serves, streams and tools, with a history of several windows."""

from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest

from tests.engine.chat import Message, as_items, history, record_of

pytestmark = pytest.mark.timeout(900)

LONG = [*history(30), {"role": "user", "content": "Which note speaks of the harbour? 哪一条说到港口？"}]
"""Some two windows."""
NAME = "look_up"
SCHEMA = {"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]}
TOOL = {"type": "function", "function": {"name": NAME, "description": "Looks up.", "parameters": SCHEMA}}
CALL = {"id": "call_1", "type": "function", "function": {"name": NAME, "arguments": '{"topic": "harbour"}'}}
CALLED: list[Message] = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "The harbour is in note 7. " * 20},
]


def anthropic_tools(messages: list[Message]) -> list[Message]:
    use = {"type": "tool_use", "id": "call_1", "name": NAME, "input": {"topic": "harbour"}}
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": CALLED[1]["content"]}
    return [
        *messages,
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]


def responses_tools(items: list[Message]) -> list[Message]:
    call = {"type": "function_call", "call_id": "call_1", "name": NAME, "arguments": '{"topic": "harbour"}'}
    output = {"type": "function_call_output", "call_id": "call_1", "output": CALLED[1]["content"]}
    return [*items, call, output]


# Tools are told but none may be called: the server answers 500 where so small a model writes half a call.
BODIES: dict[str, dict[str, Any]] = {
    "chat/completions": {
        "messages": [*LONG, *CALLED],
        "tools": [TOOL],
        "tool_choice": "none",
        "max_tokens": 8,
    },
    "messages": {
        "system": LONG[0]["content"],
        "messages": anthropic_tools(LONG[1:]),
        "tools": [{"name": NAME, "description": "Looks up.", "input_schema": SCHEMA}],
        "tool_choice": {"type": "none"},
        "max_tokens": 8,
    },
    "responses": {
        "instructions": LONG[0]["content"],
        "input": responses_tools(as_items(LONG[1:])),
        "tools": [{"type": "function", "name": NAME, "description": "Looks up.", "parameters": SCHEMA}],
        "tool_choice": "none",
        "max_output_tokens": 8,
    },
}
USED = {
    "chat/completions": ("prompt_tokens",),
    # What was read from the cache is not among `input_tokens` there.
    "messages": ("input_tokens", "cache_read_input_tokens"),
    "responses": ("input_tokens",),
}


@pytest.fixture(params=BODIES)
def path(request: pytest.FixtureRequest, engine: httpx.Client) -> str:
    name = str(request.param)
    short = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    body = {"input": "Hi", "max_output_tokens": 16} if name == "responses" else short
    if engine.post(f"/v1/{name}", json=body).status_code in (404, 405, 501):
        pytest.skip(f"this llama-server does not serve /v1/{name}")
    return name


def counted(path: str, usage: dict[str, Any]) -> int:
    return sum(usage.get(name) or 0 for name in USED[path])


@pytest.mark.parametrize("tools", [False, True], ids=["plain", "tools"])
def test_a_long_history_is_answered(gateway: httpx.Client, path: str, tools: bool) -> None:
    body = {"model": "gemma-3-270m", "temperature": 0, **BODIES[path]}
    if not tools:
        items = "input" if path == "responses" else "messages"
        body[items] = body[items][:-2]
        del body["tools"], body["tool_choice"]
    reply = gateway.post(path, json=body)
    assert reply.status_code == 200, reply.text
    compare(path, reply, gateway, reply.json()["usage"])


def test_a_stream_is_answered(gateway: httpx.Client, path: str) -> None:
    body = {"model": "gemma-3-270m", "temperature": 0, **BODIES[path], "stream": True}
    if path == "chat/completions":
        body["stream_options"] = {"include_usage": True}
    reply = gateway.post(path, json=body)
    assert reply.status_code == 200, reply.text
    events = list(data_of(reply))
    assert not [event for event in events if event.get("error")]
    compare(path, reply, gateway, usage_in(events))


def compare(path: str, reply: httpx.Response, gateway: httpx.Client, usage: dict[str, Any]) -> None:
    assert reply.headers["x-backscroll-mode"] == "assembled"
    assert "engine_refused" not in reply.headers.get("x-backscroll-degraded", "")
    record = record_of(gateway, reply)
    assert record is not None
    told, ours = counted(path, usage), record["prompt_tokens"]
    assert told == ours if record["prompt_tokens_exact"] else told <= ours


def data_of(reply: httpx.Response) -> Iterator[dict[str, Any]]:
    lines = (
        line.removeprefix("data:").strip() for line in reply.text.splitlines() if line.startswith("data:")
    )
    return (orjson.loads(line) for line in lines if line != "[DONE]")


def usage_in(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Anthropic tells the prompt at the beginning and the answer at the end."""
    usage: dict[str, Any] = {}
    for event in events:
        for holder in (event, event.get("message") or {}, event.get("response") or {}):
            usage |= {name: value for name, value in (holder.get("usage") or {}).items() if value is not None}
    return usage
