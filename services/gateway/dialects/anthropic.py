"""Anthropic Messages."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from services.gateway.dialects.base import Usage, integer
from services.gateway.dialects.blocks import (
    Slot,
    canonical_json,
    cut_texts,
    hidden_tokens,
    parts_of,
    payload_tokens,
    read_spoken,
    text_slot,
)
from services.gateway.reading.body import load
from shared.conversation.message import Call, Message, PartKind, Speaker
from shared.errors import ContextLengthExceeded, InvalidRequest
from shared.prompt.render import Edit

NAME = "anthropic"
PATH = "messages"
ITEMS = "messages"
TAKES_TEXT = False
READS = frozenset({"model", "stream", "max_tokens"})
HEAD = ("system", "tools", "output_config")
MAX_TOKENS = ("max_tokens",)
LEAST_TOKENS = 0
"""With 0 nothing is answered: the prompt cache is warmed."""
KEEP_ALIVE = b'event: ping\ndata: {"type": "ping"}\n\n'
SPEAKERS: dict[str, Speaker] = {"system": "system", "user": "user", "assistant": "assistant"}
REASONING_TYPES = {"thinking", "redacted_thinking"}
QUOTABLE = {"text", "image", "document", "search_result"}
"""What may stand beside a text inside a tool result."""
ERROR_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
Block = dict[str, Any]


def passes_through(values: Mapping[str, object]) -> bool:
    return False


def read_message(raw: bytes, index: int, image_tokens: int) -> Message:
    """Raises `InvalidRequest` naming the field, e.g. `messages[3].role`.

    A user message that brings tool results speaks as a tool, also where text stands beside them: the
    step goes on.
    """
    where = f"messages[{index}]"
    value, role = read_spoken(raw, where, SPEAKERS)
    blocks = blocks_of(value, where)
    brought = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
    asked = {b.get("id") for b in blocks if is_server_call(b)}
    late = [b["tool_use_id"] for b in blocks if is_server_result(b) and b["tool_use_id"] not in asked]
    return Message(
        role="tool" if brought and role == "user" else SPEAKERS[role],
        parts=parts_of(slots_of(value, where), image_tokens),
        calls=calls_of(blocks, where),
        answers=(*brought, *late),
        hidden_tokens=_reasoning_tokens(blocks),
    )


def blocks_of(value: Block, where: str) -> list[Block]:
    """The blocks of a message, checked as far as Backscroll reads them; none where content is a string."""
    content = value.get("content")
    if isinstance(content, str):
        return []
    if not isinstance(content, list):
        raise InvalidRequest(f"'{where}.content' must be a string or a list of blocks.", f"{where}.content")
    for i, block in enumerate(content):
        place = f"{where}.content[{i}]"
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise InvalidRequest(f"'{place}' must be an object with a 'type'.", place)
        if block["type"].endswith("tool_result") and not isinstance(block.get("tool_use_id"), str):
            raise InvalidRequest(f"'{place}.tool_use_id' must be a string.", f"{place}.tool_use_id")
    return content


def is_server_call(block: Block) -> bool:
    """A call that the engine's side answers: `server_tool_use`, `mcp_tool_use`."""
    return bool(block["type"].endswith("_tool_use"))


def is_server_result(block: Block) -> bool:
    """`web_search_tool_result` and its like."""
    return bool(block["type"].endswith("_tool_result"))


def slots_of(value: Block, where: str = "message") -> list[Slot]:
    """Where texts and opaque blocks stand, in order; reasoning and client tool calls are neither."""
    if isinstance(value.get("content"), str):
        return text_slot(PartKind.TEXT, value, "content", where)
    slots: list[Slot] = []
    answer = 0
    for i, block in enumerate(blocks_of(value, where)):
        place = f"{where}.content[{i}]"
        if block["type"] == "tool_result":
            slots += _result_slots(block, answer, place)
            answer += 1
        else:
            slots += _block_slots(block, PartKind.TEXT, 0, place)
    return slots


def _result_slots(block: Block, answer: int, where: str) -> Iterator[Slot]:
    content = block.get("content")
    if content is None:
        return
    if isinstance(content, str):
        yield from text_slot(PartKind.RESULT, block, "content", where, answer)
        return
    for i, inner in enumerate(blocks_of(block, where)):
        yield from _block_slots(inner, PartKind.RESULT, answer, f"{where}.content[{i}]")


def _block_slots(block: Block, kind: PartKind, answer: int, where: str) -> Iterator[Slot]:
    if block["type"] == "text":
        yield from text_slot(kind, block, "text", where, answer)
    elif _is_text_document(block):
        # Its text is read, found and cut as any other; what names it is kept or dropped whole.
        source = block["source"]
        named = {k: v for k, v in block.items() if k not in ("source", "citations")}
        yield Slot(PartKind.OPAQUE, named, answer=answer)
        yield from text_slot(kind, source, "data", f"{where}.source", answer)
    elif block["type"] not in REASONING_TYPES | {"tool_use"}:
        yield Slot(PartKind.OPAQUE, block, answer=answer)


def _is_text_document(block: Block) -> bool:
    source = block.get("source")
    return block["type"] == "document" and isinstance(source, dict) and source.get("type") == "text"


def calls_of(blocks: list[Block], where: str) -> tuple[Call, ...]:
    """Calls of the client's tools, and of the engine's where the result comes in a later message."""
    answered = {b["tool_use_id"] for b in blocks if is_server_result(b)}
    calls = []
    for i, block in enumerate(blocks):
        if block["type"] != "tool_use" and not (is_server_call(block) and block.get("id") not in answered):
            continue
        place = f"{where}.content[{i}]"
        for name in ("id", "name"):
            if not isinstance(block.get(name), str):
                raise InvalidRequest(f"'{place}.{name}' must be a string.", f"{place}.{name}")
        calls.append(Call(block["id"], block["name"], canonical_json(block.get("input", {}))))
    return tuple(calls)


def _reasoning_tokens(blocks: list[Block]) -> int:
    return sum(
        hidden_tokens([b.get("thinking")]) + payload_tokens(b.get("signature") or b.get("data"))
        for b in blocks
        if b["type"] in REASONING_TYPES
    )


def edit_message(raw: bytes, message: Message, edit: Edit) -> bytes:
    """Results stay in front of everything else, and no text block is empty; other fields stay as they are.

    What goes after a message that brings results goes to the end of the last result: it is data, too.
    """
    value: Any = load(raw, "message")
    cut_texts(slots_of(value), edit)
    content = value["content"]
    if isinstance(content, str):
        value["content"] = edit.before + content + edit.after
        return orjson.dumps(value)
    results = [i for i, block in enumerate(content) if block["type"] == "tool_result"]
    if edit.after and not (results and _append(content[results[-1]], edit.after)):
        content.append({"type": "text", "text": edit.after})
    if edit.before:
        content.insert(results[-1] + 1 if results else 0, {"type": "text", "text": edit.before})
    return orjson.dumps(value)


def _append(result: Block, text: str) -> bool:
    """Put text at the end of a tool result; False where it takes none."""
    content = result.get("content") or ""
    if isinstance(content, str):
        result["content"] = content + text
        return True
    if not all(block["type"] in QUOTABLE for block in content):
        return False
    content.append({"type": "text", "text": text})
    return True


def new_user_message(text: str) -> bytes:
    return orjson.dumps({"role": "user", "content": text})


def usage_of(answer: Mapping[str, Any]) -> Usage | None:
    """`message_start` carries it inside the message; `message_delta` and whole answers at the top.

    What is read from and written to the cache is part of the prompt. Where the engine's own tools ran,
    the count is a sum over several prompts (2,679 at the start of a documented stream, 10,682 at its
    end), and tells nothing of ours.
    """
    message = answer.get("message")
    usage = message.get("usage") if isinstance(message, dict) else answer.get("usage")
    if not isinstance(usage, dict):
        return None
    cached = integer(usage, "cache_read_input_tokens")
    counted = [integer(usage, "input_tokens"), cached, integer(usage, "cache_creation_input_tokens")]
    several = any((usage.get("server_tool_use") or {}).values())
    return Usage(
        # vLLM starts a stream with a count of 0 before it knows better.
        prompt_tokens=None if several else sum(c for c in counted if c) or None,
        cached_tokens=None if several else cached,
        completion_tokens=integer(usage, "output_tokens"),
    )


def error_body(message: str, code: str, status: int, field: str | None = None) -> bytes:
    """Clients know a prompt that is too long by these words, and compact their history."""
    if code == ContextLengthExceeded.code:
        message = f"prompt is too long: {message}"
    kind = ERROR_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    return orjson.dumps({"type": "error", "error": {"type": kind, "message": message}})


def error_event(message: str, code: str, status: int) -> bytes:
    return b"event: error\ndata: " + error_body(message, code, status) + b"\n\n"
