"""What strict chat templates demand of a list of messages."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backscroll.engine.template import HEAD_ROLES, message_text

ROLES = (*HEAD_ROLES, "user", "assistant", "tool")
NO_USER = "No user query found in messages."


def validate_messages(messages: Sequence[Any]) -> list[str]:
    """Every violation, in words that name the message's index; empty: valid.

    Tool messages follow the call that they answer and nothing else, every call is answered once,
    roles are known, content is a string or parts (null only beside tool calls), arguments are JSON,
    a user has said something, and no text holds half a character.
    """
    if not messages:
        return ["Conversation is empty: at least one message is required."]
    faults: list[str] = []
    open_calls: dict[str, int] = {}
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            faults.append(f"messages[{index}] is not an object.")
            continue
        role = message.get("role")
        if role not in ROLES:
            faults.append(f"messages[{index}]: unexpected message role {role!r}.")
        faults += _content_faults(index, message)
        if role == "tool":
            faults += _close_call(index, message, open_calls)
            continue
        faults += _unanswered(open_calls)
        open_calls = {}
        if role == "assistant":
            faults += _open_calls(index, message, open_calls)
    faults += _unanswered(open_calls)
    if not any(_speaks(m) for m in messages):
        faults.append(NO_USER)
    return faults


def _open_calls(index: int, message: Mapping[str, Any], open_calls: dict[str, int]) -> Iterator[str]:
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        yield f"messages[{index}]: tool_calls must be a list."
        return
    for call in calls:
        call_id = call.get("id") if isinstance(call, Mapping) else None
        if not isinstance(call_id, str) or not call_id:
            yield f"messages[{index}]: a tool call has no id."
            continue
        if call_id in open_calls:
            yield f"messages[{index}]: tool call id {call_id!r} is used twice."
        open_calls[call_id] = index
        function = call.get("function")
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            yield f"messages[{index}]: tool call {call_id!r} names no function."
            continue
        try:
            json.loads(function.get("arguments") or "")
        except (TypeError, ValueError):
            yield f"messages[{index}]: the arguments of tool call {call_id!r} are not JSON."


def _close_call(index: int, message: Mapping[str, Any], open_calls: dict[str, int]) -> Iterator[str]:
    call_id = message.get("tool_call_id")
    if not isinstance(call_id, str) or open_calls.pop(call_id, None) is None:
        yield (
            f"messages[{index}]: messages with role 'tool' must be a response to a preceding message "
            f"with 'tool_calls' (id {call_id!r})."
        )


def _unanswered(open_calls: Mapping[str, int]) -> Iterator[str]:
    for call_id, index in open_calls.items():
        yield f"messages[{index}]: tool call {call_id!r} is not followed by its response."


def _content_faults(index: int, message: Mapping[str, Any]) -> Iterator[str]:
    content = message.get("content")
    if content is None:
        if message.get("role") != "assistant" or not message.get("tool_calls"):
            yield f"messages[{index}]: content may be null only beside tool calls."
    elif not isinstance(content, str | list):
        yield f"messages[{index}]: content must be a string or a list of parts."
    elif isinstance(content, list) and not all(_is_part(part) for part in content):
        yield f"messages[{index}]: every part needs a type, and a text part its text."
    if not _encodable(message_text(message)):
        yield f"messages[{index}]: text holds a lone surrogate."


def _is_part(part: object) -> bool:
    if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
        return False
    return part["type"] != "text" or isinstance(part.get("text"), str)


def _speaks(message: object) -> bool:
    return isinstance(message, Mapping) and message.get("role") == "user" and bool(message.get("content"))


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
