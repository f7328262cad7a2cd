"""What the Responses API demands of its input; every violation in words, none: valid."""

from collections.abc import Iterator
from typing import Any

Item = dict[str, Any]
REASONED = {"message", "function_call", "custom_tool_call", "shell_call", "web_search_call"}


def faults(items: list[Item]) -> list[str]:
    return list(_faults(items))


def _faults(items: list[Item]) -> Iterator[str]:
    waiting: set[str] = set()
    if not any(item.get("role") == "user" for item in items):
        yield "no user has said anything"
    for index, item in enumerate(items):
        kind = item.get("type", "message")
        place = f"input[{index}] ({kind})"
        if kind == "reasoning":
            after = items[index + 1] if index + 1 < len(items) else {"type": "nothing"}
            if after.get("type", "message") not in REASONED or after.get("role") not in (None, "assistant"):
                yield f"{place}: without the item that follows it"
        elif kind == "message":
            if item["role"] not in ("user", "assistant", "system", "developer"):
                yield f"{place}: role {item['role']!r}"
            yield from (f"{place}: {fault}" for fault in _content_faults(item["content"], item["role"]))
        elif kind.endswith("_output"):
            if item["call_id"] not in waiting:
                yield f"{place}: no call found for {item['call_id']}"
            waiting.discard(item["call_id"])
            if kind != "shell_call_output":
                yield from (f"{place}: {fault}" for fault in _content_faults(item["output"], "tool"))
        elif "call_id" in item:
            waiting.add(item["call_id"])
    if waiting:
        yield f"no output for {waiting}"


def _content_faults(content: Any, role: str) -> Iterator[str]:
    if isinstance(content, str):
        return
    wanted = (
        {"output_text", "refusal"} if role == "assistant" else {"input_text", "input_image", "input_file"}
    )
    for block in content:
        if block["type"] not in wanted:
            yield f"a {block['type']} in what the {role} said"
