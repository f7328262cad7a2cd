"""Valid Anthropic histories of every shape, for property tests, and what clients do to them on the way."""

import copy
from typing import Any

from hypothesis import strategies as st

from tests.support.histories import long_texts, texts

Message = dict[str, Any]
Block = dict[str, Any]
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
THINKING = st.builds(lambda t: {"type": "thinking", "thinking": t, "signature": "c2lnbmVk"}, texts) | st.just(
    {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="}
)


def text(body: st.SearchStrategy[str]) -> st.SearchStrategy[Block]:
    return body.map(lambda t: {"type": "text", "text": t})


def document(body: st.SearchStrategy[str]) -> st.SearchStrategy[Block]:
    source = body.map(lambda t: {"type": "text", "media_type": "text/plain", "data": t})
    return source.map(lambda s: {"type": "document", "title": "notes", "source": s})


def contents(body: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    more = st.lists(text(body) | document(body) | st.just(IMAGE), max_size=2)
    return body | st.builds(lambda first, rest: [first, *rest], text(body), more)


def results(body: st.SearchStrategy[str]) -> st.SearchStrategy[Block]:
    inside = st.lists(text(body) | st.just(IMAGE), min_size=1, max_size=3)
    content = (body | inside).map(lambda c: {"type": "tool_result", "content": c})
    return content | st.just({"type": "tool_result"}) | content.map(lambda r: {**r, "is_error": True})


@st.composite
def searches(draw: st.DrawFn, name: str) -> list[Block]:
    """A call that the engine's side answers within the same message."""
    found = {"type": "web_search_result", "url": "https://a.example", "encrypted_content": "ZW5j" * 20}
    return [
        {"type": "server_tool_use", "id": name, "name": "web_search", "input": {"query": draw(texts)}},
        {"type": "web_search_tool_result", "tool_use_id": name, "content": [found]},
    ]


@st.composite
def answers(draw: st.DrawFn, body: st.SearchStrategy[str], name: str) -> Message:
    if draw(st.booleans()):
        return {"role": "assistant", "content": draw(body)}
    blocks = [*draw(st.lists(THINKING, max_size=1)), draw(text(body))]
    if draw(st.booleans()):
        blocks += draw(searches(f"srv-{name}"))
    return {"role": "assistant", "content": blocks}


@st.composite
def tool_steps(draw: st.DrawFn, body: st.SearchStrategy[str], name: str) -> list[Message]:
    tools = draw(st.lists(st.sampled_from(["search", "read_file", "vault_get"]), min_size=1, max_size=3))
    asked = draw(st.lists(THINKING, max_size=1)) + draw(st.lists(text(texts), max_size=1))
    brought: list[Block] = []
    for i, tool in enumerate(tools):
        call = f"toolu-{name}-{i}"
        asked.append({"type": "tool_use", "id": call, "name": tool, "input": {"q": draw(texts), "n": i}})
        brought.append({**draw(results(body)), "tool_use_id": call})
    beside = draw(st.lists(text(body), max_size=1))
    step = [{"role": "assistant", "content": asked}, {"role": "user", "content": brought + beside}]
    if draw(st.integers(0, 4)) == 0:
        # A program on the engine's side called the client's tools; its own result comes afterwards.
        program = {"type": "server_tool_use", "id": f"prog-{name}", "name": "code_execution", "input": {}}
        asked.insert(len(asked) - len(tools), program)
        output = {"type": "code_execution_tool_result", "tool_use_id": f"prog-{name}"}
        done = {**output, "content": {"type": "code_execution_result", "stdout": "1"}}
        step.append({"role": "assistant", "content": [done, draw(text(texts))]})
    return step


@st.composite
def turns(draw: st.DrawFn, body: st.SearchStrategy[str], number: int, *, last: bool) -> list[Message]:
    turn: list[Message] = [{"role": "user", "content": draw(contents(body))}]
    if number and draw(st.integers(0, 4)) == 0:
        turn.insert(0, {"role": "system", "content": draw(texts)})
    for step in range(draw(st.integers(0, 3))):
        turn += draw(tool_steps(body, f"{number}-{step}"))
    if last:
        return turn[:-1] if turn[-1]["role"] == "assistant" and len(turn) > 3 else turn
    return [*turn, draw(answers(body, str(number)))] if turn[-1]["role"] != "assistant" else turn


@st.composite
def histories(draw: st.DrawFn, *, most_turns: int = 8, size: int = 4) -> list[Message]:
    """Ends where an engine would be asked; two messages of the user may follow each other."""
    body = texts | long_texts(size)
    count = draw(st.integers(1, most_turns))
    messages: list[Message] = []
    for number in range(count):
        messages += draw(turns(body, number, last=number == count - 1))
    return messages


@st.composite
def resent(draw: st.DrawFn, messages: list[Message]) -> list[Message]:
    """The same conversation as another client, or the same one later, sends it."""
    again = copy.deepcopy(messages)
    for message in again:
        content = message["content"]
        if isinstance(content, str):
            if draw(st.booleans()):
                message["content"] = [{"type": "text", "text": content, "citations": None}]
            continue
        if len(content) == 1 and content[0]["type"] == "text" and draw(st.booleans()):
            message["content"] = content[0]["text"]
            continue
        if draw(st.booleans()):
            content[:] = [b for b in content if b["type"] not in ("thinking", "redacted_thinking")] or content
        for block in content:
            _resend(draw, block)
    return again


def _resend(draw: st.DrawFn, block: Block) -> None:
    if draw(st.booleans()):
        block["cache_control"] = {"type": "ephemeral"}
    if block["type"] == "tool_use":
        block["id"] = f"other-{block['id']}"
        block["input"] = dict(reversed(block["input"].items()))
    if block["type"] == "tool_result":
        block["tool_use_id"] = f"other-{block['tool_use_id']}"
        inside = block.get("content")
        if isinstance(inside, str) and draw(st.booleans()):
            block["content"] = [{"type": "text", "text": inside}]
        for inner in block["content"] if isinstance(block.get("content"), list) else []:
            if draw(st.booleans()):
                inner["cache_control"] = {"type": "ephemeral"}
