"""Valid Responses inputs of every shape, for property tests, and what clients do to them on the way."""

import copy
import json
from typing import Any

from hypothesis import strategies as st

from tests.support.histories import long_texts, texts

Item = dict[str, Any]
IMAGE = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBORw0KGgo="}
SEARCHED = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
STRIPPED = {"reasoning", "web_search_call"}


def input_text(body: st.SearchStrategy[str]) -> st.SearchStrategy[Item]:
    return body.map(lambda t: {"type": "input_text", "text": t})


def contents(body: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    more = st.lists(input_text(body) | st.just(IMAGE), max_size=2)
    return body | st.builds(lambda first, rest: [first, *rest], input_text(body), more)


@st.composite
def reasonings(draw: st.DrawFn) -> list[Item]:
    if draw(st.booleans()):
        return []
    summary = [{"type": "summary_text", "text": draw(texts)}]
    return [{"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "ZW5j" * 9}]


@st.composite
def messages(draw: st.DrawFn, role: str, body: st.SearchStrategy[str]) -> Item:
    if role == "assistant" and draw(st.booleans()):
        said = {"type": "output_text", "text": draw(body), "annotations": []}
        return {"type": "message", "id": "msg_1", "status": "completed", "role": role, "content": [said]}
    content = draw(body if role == "assistant" else contents(body))
    typed = {"type": "message"} if draw(st.booleans()) else {}
    return {**typed, "role": role, "content": content}


@st.composite
def tool_steps(draw: st.DrawFn, body: st.SearchStrategy[str], name: str) -> list[Item]:
    step = draw(reasonings())
    if draw(st.booleans()):
        step.append(draw(messages("assistant", texts)))
        step += draw(reasonings())
    tools = draw(st.lists(st.sampled_from(["search", "patch", "shell"]), min_size=1, max_size=3))
    outputs: list[Item] = []
    for i, tool in enumerate(tools):
        call, output = draw(calls(body, tool, f"call-{name}-{i}"))
        step.append(call)
        outputs.append(output)
    if len(tools) > 1 and draw(st.booleans()):
        # The first result came while the model still spoke.
        step.insert(len(step) - 1, outputs.pop(0))
    return step + outputs


@st.composite
def calls(draw: st.DrawFn, body: st.SearchStrategy[str], tool: str, name: str) -> tuple[Item, Item]:
    if tool == "patch":
        call = {"type": "custom_tool_call", "call_id": name, "name": tool, "input": draw(texts)}
        return call, {"type": "custom_tool_call_output", "call_id": name, "output": draw(contents(body))}
    if tool == "shell":
        call = {"type": "shell_call", "call_id": name, "action": {"commands": [draw(texts)]}}
        said = {"stdout": draw(body), "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
        return call, {"type": "shell_call_output", "call_id": name, "output": [said]}
    asked = json.dumps({"q": draw(texts), "n": 1})
    call = {"type": "function_call", "id": f"fc-{name}", "call_id": name, "name": tool, "arguments": asked}
    return call, {"type": "function_call_output", "call_id": name, "output": draw(contents(body))}


@st.composite
def turns(draw: st.DrawFn, body: st.SearchStrategy[str], number: int, *, last: bool) -> list[Item]:
    turn = [draw(messages("user", body))]
    if draw(st.integers(0, 4)) == 0:
        turn.insert(0, {"role": "developer", "content": draw(texts)})
    for step in range(draw(st.integers(0, 3))):
        turn += draw(tool_steps(body, f"{number}-{step}"))
    if not last:
        turn += draw(reasonings())
        turn += draw(st.sampled_from([[], [SEARCHED]]))
        turn.append(draw(messages("assistant", body)))
    return turn


@st.composite
def histories(draw: st.DrawFn, *, most_turns: int = 8, size: int = 4) -> list[Item]:
    """Ends where an engine would be asked."""
    body = texts | long_texts(size)
    count = draw(st.integers(1, most_turns))
    return [i for n in range(count) for i in draw(turns(body, n, last=n == count - 1))]


@st.composite
def resent(draw: st.DrawFn, items: list[Item]) -> list[Item]:
    """The same conversation as another client, or the same one later, sends it."""
    again = []
    for item in copy.deepcopy(items):
        kind = item.get("type", "message")
        if kind in STRIPPED and draw(st.booleans()):
            continue
        item.pop("id", None)
        if "call_id" in item:
            item["call_id"] = f"other-{item['call_id']}"
        if kind == "function_call":
            item["arguments"] = json.dumps(dict(reversed(json.loads(item["arguments"]).items())))
        if isinstance(item.get("content"), str) and draw(st.booleans()):
            said = "output_text" if item["role"] == "assistant" else "input_text"
            item["content"] = [{"type": said, "text": item["content"]}]
        if kind == "message":
            item.pop("type", None)
        again.append(item)
    return again
