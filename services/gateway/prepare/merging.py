"""Chat messages put together into one: what a template with one place for two of them needs."""

from typing import Any

Value = dict[str, Any]
BETWEEN = "\n\n"
SYSTEM_MARK = "[system]\n"
JOINED_TEXTS = ("reasoning_content", "reasoning")
"""Fields of the assistant that read on where two of its messages become one."""


def marked(content: object) -> object:
    """A system message's content, to stand inside another message."""
    if isinstance(content, list):
        return [{"type": "text", "text": SYSTEM_MARK.rstrip()}, *content]
    return SYSTEM_MARK + (content if isinstance(content, str) else "")


def joined(first: object, second: object) -> object:
    """Two contents in a row: texts with a blank line between them, parts as one list."""
    if not first or not second:
        return first or second or ("" if "" in (first, second) else None)
    if isinstance(first, str) and isinstance(second, str):
        return first + BETWEEN + second
    return [*_parts(first), *_parts(second)]


def _parts(content: object) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def named(value: Value) -> Value:
    """Who speaks, as text: two names do not fit one message."""
    name = value.get("name")
    if not name:
        return value
    content = value.get("content")
    said = (
        [{"type": "text", "text": f"{name}:"}, *content]
        if isinstance(content, list)
        else f"{name}: {content}"
    )
    return {**{k: v for k, v in value.items() if k != "name"}, "content": said}


def merged(first: Value, second: Value) -> Value:
    """One message of the two, of the first's role; the calls of both, and every field of either."""
    both = {**second, **first, "content": joined(first.get("content"), second.get("content"))}
    calls = [*(first.get("tool_calls") or []), *(second.get("tool_calls") or [])]
    if calls:
        both["tool_calls"] = calls
    for name in JOINED_TEXTS:
        if isinstance(first.get(name), str) and isinstance(second.get(name), str):
            both[name] = f"{first[name]}{BETWEEN}{second[name]}"
    return both
