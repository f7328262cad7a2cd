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


def part_lists(body: st.SearchStrategy[str]) -> st.SearchStrategy[list[Any]]:
    """Texts, and beside them an image, an audio clip, a part of a kind that nobody knows."""
    parts = st.lists(body, min_size=1, max_size=3).map(lambda ts: [{"type": "text", "text": t} for t in ts])
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    audio = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    other = {"type": "x_location", "at": [48.1, 11.6], "note": "返回"}
    extra = st.lists(st.sampled_from([image, audio, other]), max_size=2)
    return st.builds(
        lambda ps, more, first: [*more, *ps] if first else [*ps, *more], parts, extra, st.booleans()
    )


def contents(body: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return body | part_lists(body)


def rarely(draw: st.DrawFn, one_in: int = 5) -> bool:
    return draw(st.integers(1, one_in)) == one_in


@st.composite
def tool_steps(draw: st.DrawFn, body: st.SearchStrategy[str], prefix: str) -> list[Message]:
    """A call or several in parallel, then their results, in any order of the ids."""
    names = draw(st.lists(st.sampled_from(["search", "read_file", "vault_get"]), min_size=1, max_size=4))
    calls = [
        {
            "id": f"{prefix}-{i}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps({"q": draw(texts)})},
        }
        for i, name in enumerate(names)
    ]
    call: Message = {
        "role": "assistant",
        "content": draw(st.none() | st.just("") | texts),
        "tool_calls": calls,
    }
    if rarely(draw):
        call["reasoning_content"] = draw(texts)
    results: list[Message] = [
        {"role": "tool", "tool_call_id": c["id"], "content": draw(body | st.just("") | part_lists(body))}
        for c in draw(st.permutations(calls))
    ]
    if rarely(draw):
        results[0]["name"] = names[0]
    return [call, *results]


def answers(body: st.SearchStrategy[str]) -> st.SearchStrategy[Message]:
    refusal: Message = {"role": "assistant", "content": "", "refusal": "I cannot help with that."}
    extra: Message = {
        "role": "assistant",
        "content": "Yes.",
        "annotations": [],
        "audio": None,
        "x_score": 0.5,
    }
    return body.map(lambda t: {"role": "assistant", "content": t}) | st.sampled_from([refusal, extra])


@st.composite
def turns(draw: st.DrawFn, body: st.SearchStrategy[str], number: int, *, last: bool) -> list[Message]:
    user: Message = {"role": "user", "content": draw(contents(body))}
    if rarely(draw):
        user["name"] = draw(st.sampled_from(["alice", "bob"]))
    turn = [user]
    if rarely(draw):
        # Two in a row: a client that sends its context and its question apart.
        turn.append({"role": "user", "content": draw(texts | st.just(""))})
    if rarely(draw):
        turn.insert(0, {"role": draw(st.sampled_from(["system", "developer"])), "content": draw(texts)})
    for step in range(draw(st.integers(0, 3))):
        turn += draw(tool_steps(body, f"c{number}-{step}"))
        if rarely(draw):
            turn.append({"role": "system", "content": draw(texts)})
    # An answer is missing where the user took the word before it came.
    if not last and not rarely(draw, 8):
        turn.append(draw(answers(body)))
    return turn


@st.composite
def histories(draw: st.DrawFn, *, most_turns: int = 8, size: int = 4) -> list[Message]:
    """Ends where an engine would be asked: with a user's or a tool's message, or a system's after it."""
    body = texts | long_texts(size)
    messages: list[Message] = []
    for _ in range(draw(st.integers(0, 2))):
        role = draw(st.sampled_from(["system", "developer"]))
        messages.append({"role": role, "content": draw(texts | part_lists(texts))})
    if rarely(draw):
        messages.append({"role": "assistant", "content": draw(texts)})
    count = draw(st.integers(1, most_turns))
    for number in range(count):
        messages += draw(turns(body, number, last=number == count - 1))
    return messages


def legacy(messages: list[Message]) -> list[Message]:
    """The same with `function_call` and role `function`, where a step calls one function."""
    told: list[Message] = []
    for message in messages:
        calls = message.get("tool_calls") or []
        before = told[-1] if told else {}
        if len(calls) == 1:
            told.append({**message, "content": None, "function_call": calls[0]["function"]})
            del told[-1]["tool_calls"]
        elif message["role"] == "tool" and "function_call" in before:
            name = before["function_call"]["name"]
            told.append({"role": "function", "name": name, "content": message["content"]})
        else:
            told.append(message)
    return told


def modern(messages: list[Message]) -> list[Message]:
    """`legacy` undone as far as pairs go, for a validator that knows tools only."""
    told: list[Message] = []
    for i, message in enumerate(messages):
        value = dict(message)
        if function := value.pop("function_call", None):
            value["tool_calls"] = [{"id": f"f{i}", "type": "function", "function": function}]
        if value["role"] == "function":
            value = {"role": "tool", "tool_call_id": f"f{i - 1}", "content": value["content"]}
        told.append(value)
    return told
