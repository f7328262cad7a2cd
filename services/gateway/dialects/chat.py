"""OpenAI Chat Completions."""

from collections.abc import Mapping
from typing import Any

import orjson

from services.gateway.dialects.base import Usage, integer
from services.gateway.dialects.blocks import hidden_tokens, opaque_part, read_spoken
from services.gateway.reading.body import load
from shared.conversation.message import Call, Message, Part, PartKind, Speaker
from shared.errors import InvalidRequest
from shared.prompt.cut import apply_cuts, by_unit
from shared.prompt.render import Edit

NAME = "chat"
PATH = "chat/completions"
ITEMS = "messages"
TAKES_TEXT = False
READS = frozenset({"model", "stream", "max_tokens", "max_completion_tokens"})
HEAD = ("tools", "functions", "response_format")
MAX_TOKENS = ("max_completion_tokens", "max_tokens")
LEAST_TOKENS = 1
KEEP_ALIVE = b": backscroll is indexing the conversation\n\n"
SPEAKERS: dict[str, Speaker] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
TEXT_TYPES = {"text", "input_text", "output_text"}
REASONING_TYPES = {"thinking", "redacted_thinking", "reasoning"}


def passes_through(values: Mapping[str, object]) -> bool:
    return False


def read_message(raw: bytes, index: int, image_tokens: int) -> Message:
    """Raises `InvalidRequest` naming the field, e.g. `messages[3].role`."""
    where = f"messages[{index}]"
    value, role = read_spoken(raw, where, SPEAKERS)
    name = value.get("name")
    if name is not None and not isinstance(name, str):
        raise InvalidRequest(f"'{where}.name' must be a string.", f"{where}.name")
    answers: tuple[str, ...] = ()
    if SPEAKERS[role] == "tool":
        answers = (_answered(value, role, where),)
    kind = PartKind.RESULT if answers else PartKind.TEXT
    return Message(
        role=SPEAKERS[role],
        parts=_parts(value.get("content"), kind, f"{where}.content", image_tokens),
        calls=_calls(value, where),
        name=name,
        answers=answers,
        hidden_tokens=_reasoning_tokens(value),
    )


def _answered(value: dict[str, Any], role: str, where: str) -> str:
    if role == "function":
        return ""
    call = value.get("tool_call_id")
    if not isinstance(call, str):
        raise InvalidRequest(f"'{where}.tool_call_id' must be a string.", f"{where}.tool_call_id")
    return call


def _parts(content: object, kind: PartKind, where: str, image_tokens: int) -> tuple[Part, ...]:
    if content is None:
        return ()
    if isinstance(content, str):
        return (Part(kind, text=content),) if content else ()
    if not isinstance(content, list):
        raise InvalidRequest(f"'{where}' must be a string, a list of parts or null.", where)
    parts: list[Part] = []
    for i, item in enumerate(content):
        if not isinstance(item, dict) or not isinstance(item.get("type"), str):
            raise InvalidRequest(f"'{where}[{i}]' must be an object with a 'type'.", f"{where}[{i}]")
        if item["type"] in TEXT_TYPES:
            if not isinstance(item.get("text"), str):
                raise InvalidRequest(f"'{where}[{i}].text' must be a string.", f"{where}[{i}].text")
            parts.append(Part(kind, text=item["text"]))
        elif item["type"] not in REASONING_TYPES:
            parts.append(opaque_part(item, image_tokens))
    return tuple(p for p in parts if p.text or p.kind is PartKind.OPAQUE)


def _reasoning_tokens(value: dict[str, Any]) -> int:
    """Upper bound of reasoning that is sent back: some templates put it into the prompt."""
    content = value.get("content")
    blocks = [b for b in content if b.get("type") in REASONING_TYPES] if isinstance(content, list) else []
    told = [value.get("reasoning_content"), value.get("reasoning"), *(b.get("thinking") for b in blocks)]
    return hidden_tokens(told)


def _calls(value: dict[str, Any], where: str) -> tuple[Call, ...]:
    listed = value.get("tool_calls") or []
    if not isinstance(listed, list):
        raise InvalidRequest(f"'{where}.tool_calls' must be a list.", f"{where}.tool_calls")
    legacy = value.get("function_call")
    calls = [(call, f"{where}.tool_calls[{i}]") for i, call in enumerate(listed)]
    if isinstance(legacy, dict):
        calls.append(({"id": "", "function": legacy}, f"{where}.function_call"))
    return tuple(_call(call, place) for call, place in calls)


def _call(call: object, where: str) -> Call:
    if not isinstance(call, dict):
        raise InvalidRequest(f"'{where}' must be an object.", where)
    function = call.get("function") or call.get("custom")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise InvalidRequest(f"'{where}.function.name' must be a string.", f"{where}.function")
    arguments = function.get("arguments", function.get("input", ""))
    text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
    identity = call.get("id", "")
    if not isinstance(identity, str):
        raise InvalidRequest(f"'{where}.id' must be a string.", f"{where}.id")
    return Call(id=identity, name=function["name"], arguments=text)


def edit_message(raw: bytes, message: Message, edit: Edit) -> bytes:
    """The raw message with ranges left out and text put before or after; other fields stay as they are."""
    value: Any = load(raw, "message")
    content = value.get("content")
    if isinstance(content, list):
        value["content"] = _edit_parts(content, edit)
        return orjson.dumps(value)
    text = content if isinstance(content, str) else ""
    value["content"] = edit.before + apply_cuts(text, edit.cuts) + edit.after
    return orjson.dumps(value)


def _edit_parts(content: list[dict[str, Any]], edit: Edit) -> list[dict[str, Any]]:
    """Units count the texts that are not empty, in order; so do the items here."""
    items = [dict(item) for item in content]
    texts = [i for i, item in enumerate(items) if item.get("type") in TEXT_TYPES and item.get("text")]
    for unit, ranges in by_unit(edit.cuts).items():
        if unit < len(texts):
            item = items[texts[unit]]
            item["text"] = apply_cuts(item["text"], ranges)
    kind = content[texts[0]]["type"] if texts else "text"
    before = [{"type": kind, "text": edit.before}] if edit.before else []
    after = [{"type": kind, "text": edit.after}] if edit.after else []
    return [*before, *items, *after]


def new_user_message(text: str) -> bytes:
    return orjson.dumps({"role": "user", "content": text})


def usage_of(answer: Mapping[str, Any]) -> Usage | None:
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return None
    details = usage.get("prompt_tokens_details")
    return Usage(
        prompt_tokens=integer(usage, "prompt_tokens"),
        cached_tokens=integer(details, "cached_tokens"),
        completion_tokens=integer(usage, "completion_tokens"),
    )


def error_body(message: str, code: str, status: int, field: str | None = None) -> bytes:
    kind = "invalid_request_error" if status < 500 else "api_error"
    return orjson.dumps({"error": {"message": message, "type": kind, "param": field, "code": code}})


def error_event(message: str, code: str, status: int) -> bytes:
    return b"data: " + error_body(message, code, status) + b"\n\n"
