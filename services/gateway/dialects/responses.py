"""OpenAI Responses: each item of `input` is one message.

What clients strip and the engine does not miss (reasoning, calls that the engine's side answered,
references) has no address: it stays with the item after it, as the API demands of reasoning, and leaves
with it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from services.gateway.dialects.base import Usage, integer
from services.gateway.dialects.blocks import (
    Slot,
    canonical_json,
    cut_texts,
    opaque_tokens,
    parts_of,
    text_slot,
)
from services.gateway.dialects.chat import error_body as error_body
from services.gateway.reading.body import load
from shared.conversation.message import Call, Message, PartKind, Speaker
from shared.errors import InvalidRequest
from shared.prompt.render import Edit

NAME = "responses"
PATH = "responses"
ITEMS = "input"
TAKES_TEXT = True
READS = frozenset({"model", "stream", "max_output_tokens", "previous_response_id", "conversation"})
HEAD = ("instructions", "tools", "text")
MAX_TOKENS = ("max_output_tokens",)
LEAST_TOKENS = 1
KEEP_ALIVE = b": backscroll is indexing the conversation\n\n"
SPEAKERS: dict[str, Speaker] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
TEXT_TYPES = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
"""Types of content by the field that holds their text."""
STANDING = {"compaction", "additional_tools", "configuration_update"}
"""Items that hold for all that follows, as system messages do; the leading ones are part of the head."""
ENGINE_CALLS = {
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
}
NAMELESS = {"id", "call_id", "type", "status", "caller"}
"""Fields of a call that are not what it asks for."""
Item = dict[str, Any]


def passes_through(values: Mapping[str, object]) -> bool:
    """The history is at the engine: nothing can be recalled from it, and nothing cut."""
    return values.get("previous_response_id") is not None or values.get("conversation") is not None


def read_message(raw: bytes, index: int, image_tokens: int) -> Message:
    """Raises `InvalidRequest` naming the field, e.g. `input[3].role`."""
    where = f"input[{index}]"
    value = load(raw, where)
    if not isinstance(value, dict):
        raise InvalidRequest(f"'{where}' must be an object.", where)
    kind = kind_of(value, where)
    parts = parts_of(slots_of(value, where), image_tokens)
    if kind == "message":
        return Message(_speaker(value, where), parts)
    answered = answer_of(value, kind)
    if answered is not None:
        return Message("tool", parts, answers=(answered,))
    call = call_of(value, where)
    if call is not None:
        return Message("assistant", parts, calls=(call,))
    hidden = image_tokens if kind == "image_generation_call" else opaque_tokens(value, image_tokens)
    return Message("system" if kind in STANDING else "attached", hidden_tokens=hidden)


def kind_of(value: Item, where: str = "item") -> str:
    """The type; an item without one is a message where it has a role, else a reference."""
    kind = value.get("type")
    if kind is None:
        return "message" if "role" in value else "item_reference"
    if not isinstance(kind, str):
        raise InvalidRequest(f"'{where}.type' must be a string.", f"{where}.type")
    return kind


def _speaker(value: Item, where: str) -> Speaker:
    role = value.get("role")
    if not isinstance(role, str) or role not in SPEAKERS:
        raise InvalidRequest(
            f"'{where}.role' must be one of {', '.join(SPEAKERS)}; it is {role!r}.", f"{where}.role"
        )
    return SPEAKERS[role]


def answer_of(value: Item, kind: str) -> str | None:
    """The id of the call whose result an item brings; None where it brings none."""
    if kind == "mcp_approval_response":
        return str(value.get("approval_request_id", ""))
    if kind == "local_shell_call_output":
        return str(value.get("call_id") or value.get("id") or "")
    if not kind.endswith("_output") or (kind == "tool_search_output" and not value.get("call_id")):
        return None
    return str(value.get("call_id") or "")


def call_of(value: Item, where: str = "item") -> Call | None:
    """The call that an item makes; None where it makes none, or the engine's side kept its result."""
    kind = kind_of(value, where)
    if kind in ("function_call", "mcp_call", "mcp_approval_request"):
        identity = "call_id" if kind == "function_call" else "id"
        return Call(*(_string(value, name, where) for name in (identity, "name", "arguments")))
    if kind == "custom_tool_call":
        return Call(*(_string(value, name, where) for name in ("call_id", "name", "input")))
    if not isinstance(value.get("call_id"), str):
        return None
    asked = {k: v for k, v in value.items() if k not in NAMELESS}
    return Call(value["call_id"], kind.removesuffix("_call"), canonical_json(asked))


def _string(value: Item, name: str, where: str) -> str:
    found = value.get(name)
    if not isinstance(found, str):
        raise InvalidRequest(f"'{where}.{name}' must be a string.", f"{where}.{name}")
    return found


def slots_of(value: Item, where: str = "item") -> list[Slot]:
    """Where texts and opaque blocks stand, in order."""
    kind = kind_of(value, where)
    if kind == "message":
        return list(_content_slots(value, "content", PartKind.TEXT, where))
    if kind == "mcp_call":
        return list(_content_slots(value, "output", PartKind.TEXT, where))
    if answer_of(value, kind) is None:
        return []
    if kind == "mcp_approval_response":
        return [Slot(PartKind.OPAQUE, {"approve": value.get("approve"), "reason": value.get("reason")})]
    if kind == "tool_search_output":
        return [Slot(PartKind.OPAQUE, {"type": kind, "tools": value.get("tools")})]
    return list(_content_slots(value, output_field(kind), PartKind.RESULT, where))


def output_field(kind: str) -> str:
    return "result" if kind == "program_output" else "output"


def _content_slots(value: Item, name: str, kind: PartKind, where: str) -> Iterator[Slot]:
    content = value.get(name)
    if content is None:
        return
    if isinstance(content, str):
        yield from text_slot(kind, value, name, where)
        return
    if isinstance(content, dict):
        yield Slot(PartKind.OPAQUE, content)
        return
    if not isinstance(content, list):
        raise InvalidRequest(f"'{where}.{name}' must be a string or a list.", f"{where}.{name}")
    for i, block in enumerate(content):
        place = f"{where}.{name}[{i}]"
        if not isinstance(block, dict):
            raise InvalidRequest(f"'{place}' must be an object.", place)
        if "stdout" in block:
            yield from text_slot(kind, block, "stdout", place)
            yield from text_slot(kind, block, "stderr", place)
        elif block.get("type") in TEXT_TYPES:
            yield from text_slot(kind, block, TEXT_TYPES[block["type"]], place)
        else:
            yield Slot(PartKind.OPAQUE, block)


def edit_message(raw: bytes, message: Message, edit: Edit) -> bytes:
    """Leave ranges out, put text before or after; everything else stays as it is.

    An output that is no text (a screenshot) takes none and stays as it is.
    """
    value: Any = load(raw, "item")
    slots = slots_of(value)
    cut_texts(slots, edit)
    _unpoint(slots, edit)
    kind = kind_of(value)
    name = "content" if kind == "message" else output_field(kind)
    content = value.get(name)
    if content is None or isinstance(content, str):
        if edit.before or edit.after:
            value[name] = edit.before + (content or "") + edit.after
    elif isinstance(content, list) and content and "stdout" in content[-1]:
        content[0]["stdout"] = edit.before + content[0]["stdout"]
        content[-1]["stdout"] += edit.after
    elif isinstance(content, list):
        before, after = ([{"type": "input_text", "text": t}] if t else [] for t in (edit.before, edit.after))
        value[name] = [*before, *content, *after]
    return orjson.dumps(value)


def _unpoint(slots: list[Slot], edit: Edit) -> None:
    """Annotations and log probabilities point into the whole text; they go where it is cut."""
    texts = [slot for slot in slots if slot.kind is not PartKind.OPAQUE]
    for cut in edit.cuts:
        if cut.unit < len(texts):
            holder = texts[cut.unit].holder
            holder.update({k: [] for k in ("annotations", "logprobs") if k in holder})


def new_user_message(text: str) -> bytes:
    return orjson.dumps({"type": "message", "role": "user", "content": text})


def usage_of(answer: Mapping[str, Any]) -> Usage | None:
    """Of the events only the last ones (`response.completed`) carry it, inside the response.

    Where the engine's own tools ran, the count is a sum over several prompts and tells nothing of ours.
    """
    response = answer.get("response", answer)
    usage = response.get("usage") if isinstance(response, dict) else None
    if not isinstance(usage, dict):
        return None
    output = response.get("output")
    several = isinstance(output, list) and any(
        isinstance(item, dict) and item.get("type") in ENGINE_CALLS for item in output
    )
    return Usage(
        prompt_tokens=None if several else integer(usage, "input_tokens"),
        cached_tokens=None if several else integer(usage.get("input_tokens_details"), "cached_tokens"),
        completion_tokens=integer(usage, "output_tokens"),
    )


def error_event(message: str, code: str, status: int) -> bytes:
    told = {"type": "error", "code": code, "message": message, "param": None, "sequence_number": 0}
    return b"event: error\ndata: " + orjson.dumps(told) + b"\n\n"
