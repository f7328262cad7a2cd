"""The prompt as the engine got it: messages, and in them what Backscroll put there."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from services.gateway.inspector.quotes import Piece, pieces_of
from services.gateway.inspector.recorded import Record
from shared.prompt.window import last_step

LONGEST_OPAQUE = 400
"""Characters of a part that is no text; an image has megabytes."""


@dataclass(frozen=True)
class Shown:
    """One message. `part` is the budget's name for where it stands."""

    role: str
    part: str
    position: int | None
    turn: int | None
    pinned: bool
    cut: bool
    pieces: tuple[Piece, ...]
    key: bytes
    """Equal for equal messages."""


def messages_of(record: Record) -> list[Shown]:
    """In the order of the prompt, what stands beside the messages (system prompt, tools) before them."""
    shown = [_beside(name, text) for name, text in _head(record.prompt)]
    raw = _items(record.prompt)
    places = record.places if len(record.places) == len(raw) else (None,) * len(raw)
    first_placed = next((n for n, place in enumerate(places) if place is not None), len(raw))
    asking = last_step(record.history) if record.history is not None and len(record.history) else None
    cuts = {cut.position for cut in record.layout.cuts}
    for index, (message, position) in enumerate(zip(raw, places, strict=True)):
        part = "recent"
        if position is None and index < first_placed and _role(message) in ("system", "developer"):
            part = "head"
        elif position is not None and asking is not None and position >= asking:
            part = "last"
        shown.append(
            Shown(
                role=_role(message),
                part=part,
                position=position,
                turn=None if position is None else record.turn(position),
                pinned=position in record.layout.pinned,
                cut=position in cuts,
                pieces=tuple(p for text in _texts(message) for p in pieces_of(text, record)),
                key=json.dumps(message, sort_keys=True).encode(),
            )
        )
    return shown


def _beside(name: str, text: str) -> Shown:
    return Shown(name, "head", None, None, False, False, (Piece("text", text),), text.encode())


def _head(prompt: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name in ("system", "instructions"):
        if value := prompt.get(name):
            yield name, value if isinstance(value, str) else "\n".join(_texts({"content": value}))
    if tools := prompt.get("tools"):
        yield "tools", json.dumps(tools, ensure_ascii=False, indent=1)


def _items(prompt: dict[str, Any]) -> list[dict[str, Any]]:
    items = prompt.get("messages", prompt.get("input", []))
    if isinstance(items, str):
        return [{"role": "user", "content": items}]
    return [item if isinstance(item, dict) else {"content": item} for item in items]


def _role(message: dict[str, Any]) -> str:
    return str(message.get("role") or message.get("type") or "")


def _texts(message: dict[str, Any]) -> Iterator[str]:
    """Everything of a message that says something, one text a part."""
    content = message.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            yield _part(part)
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        yield f"{function.get('name', '')}({function.get('arguments', '')})"
    if content is None and message.get("type") not in (None, "message"):
        yield _part({name: value for name, value in message.items() if name != "role"})


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        return str(part["text"])
    if isinstance(part, dict) and isinstance(part.get("content"), list):
        return "\n".join(_part(inner) for inner in part["content"])
    if isinstance(part, dict) and isinstance(part.get("content"), str):
        return str(part["content"])
    text = json.dumps(part, ensure_ascii=False)
    return text if len(text) <= LONGEST_OPAQUE else f"{text[:LONGEST_OPAQUE]}… ({len(text)} characters)"
