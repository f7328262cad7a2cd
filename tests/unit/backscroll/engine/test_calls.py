import json
from typing import Any

import httpx
import pytest

from backscroll.engine.calls import tool_calls


def tool(name: str, **properties: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {n: {"type": t} for n, t in properties.items()}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TOOLS = [tool("find_file", path="string", depth="integer"), tool("find", words="string"), tool("stop")]


def ask(question: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": question}], "tools": TOOLS, **more}


@pytest.mark.parametrize(
    ("body", "called"),
    [
        (ask("What did we say about the harbour?"), []),
        (ask('Use find_file with "a.txt".'), [("find_file", {"path": "a.txt"})]),
        (ask('find "x"; then stop', tool_choice="none"), []),
        (ask('find "x"; then stop'), [("find", {"words": "x"}), ("stop", {})]),
        (ask('find "x"; then stop', parallel_tool_calls=False), [("find", {"words": "x"})]),
        (ask("Hello", tool_choice="required"), [("find_file", {"path": "Hello"})]),
        (
            ask("Hello", tool_choice={"type": "function", "function": {"name": "find"}}),
            [("find", {"words": "Hello"})],
        ),
        (ask("stop") | {"messages": [{"role": "tool", "content": "stop"}]}, []),
        ({"messages": [{"role": "user", "content": "stop"}]}, []),
    ],
)
def test_a_tool_is_called_when_it_is_named_or_forced(
    body: dict[str, Any], called: list[tuple[str, dict[str, str]]]
) -> None:
    assert [(c.name, json.loads(c.arguments)) for c in tool_calls(body)] == called


async def test_a_result_answers(client: httpx.AsyncClient) -> None:
    body = ask('find "harbour"')
    first = (await client.post("/v1/chat/completions", json=body)).json()["choices"][0]
    assert first["finish_reason"] == "tool_calls"
    found = {"role": "tool", "tool_call_id": first["message"]["tool_calls"][0]["id"]}
    found["content"] = "The harbour gate code is 4417."
    question = {"role": "user", "content": "What is the harbour gate code?"}
    body["messages"] += [first["message"], found, question]
    second = (await client.post("/v1/chat/completions", json=body)).json()["choices"][0]
    assert "4417" in second["message"]["content"]


async def test_a_call_that_does_not_fit_is_none(client: httpx.AsyncClient) -> None:
    answer = (
        await client.post(
            "/v1/chat/completions",
            json=ask("stop now", max_tokens=1)
            | {"tools": [tool("find", words="string")], "tool_choice": "required"},
        )
    ).json()
    choice = answer["choices"][0]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("length", "")
