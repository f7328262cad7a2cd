"""Valid OpenAI histories of every shape, for property tests."""

import json
from typing import Any

from hypothesis import strategies as st

Message = dict[str, Any]

WORDS = [
    "red",
    "boat",
    "QN-200",
    "2024-05-08",
    "返回",
    "退货政策",
    "🙂",
    "👨‍👩‍👧",
    "e\u0301",
    "retry=2",
    "line 27",
    "汉字",
]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join) | st.text(
    st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60
).filter(lambda t: bool(t.strip()))


def long_texts(most: int) -> st.SearchStrategy[str]:
    lines = st.lists(texts, min_size=1, max_size=30).map("\n".join)
    return st.builds(lambda t, n: (t + "\n") * n, lines, st.integers(1, most))


def contents(body: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    parts = st.lists(body, min_size=1, max_size=3).map(lambda ts: [{"type": "text", "text": t} for t in ts])
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    return body | parts | parts.map(lambda ps: [*ps, image])


@st.composite
def tool_steps(draw: st.DrawFn, body: st.SearchStrategy[str], prefix: str) -> list[Message]:
    names = draw(st.lists(st.sampled_from(["search", "read_file", "vault_get"]), min_size=1, max_size=3))
    calls = [
        {
            "id": f"{prefix}-{i}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps({"q": draw(texts)})},
        }
        for i, name in enumerate(names)
    ]
    step: list[Message] = [
        {"role": "assistant", "content": draw(st.none() | st.just("") | texts), "tool_calls": calls}
    ]
    step += [{"role": "tool", "tool_call_id": call["id"], "content": draw(body)} for call in calls]
    return step


@st.composite
def turns(draw: st.DrawFn, body: st.SearchStrategy[str], number: int, *, last: bool) -> list[Message]:
    turn: list[Message] = [{"role": "user", "content": draw(contents(body))}]
    if draw(st.integers(0, 4)) == 0:
        turn.insert(0, {"role": "system", "content": draw(texts)})
    for step in range(draw(st.integers(0, 3))):
        turn += draw(tool_steps(body, f"c{number}-{step}"))
    ended_by_tool = turn[-1]["role"] == "tool"
    if not last and (not ended_by_tool or draw(st.booleans())):
        turn.append({"role": "assistant", "content": draw(body)})
    if not last and ended_by_tool and turn[-1]["role"] == "tool":
        turn.append({"role": "assistant", "content": draw(texts)})
    return turn


@st.composite
def histories(draw: st.DrawFn, *, most_turns: int = 8, size: int = 4) -> list[Message]:
    """Ends where an engine would be asked: with a user's or a tool's message."""
    body = texts | long_texts(size)
    messages: list[Message] = []
    if draw(st.booleans()):
        messages.append({"role": "system", "content": draw(texts)})
    count = draw(st.integers(1, most_turns))
    for number in range(count):
        messages += draw(turns(body, number, last=number == count - 1))
    return messages
