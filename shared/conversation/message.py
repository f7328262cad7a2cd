"""A message of any dialect, in one form."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

import orjson

from shared.contracts.base import Kind, Role
from shared.contracts.events import Unit

Speaker = Literal["system", "attached", "user", "assistant", "tool"]
"""System messages and what is attached to the message after it (a reasoning item) have no address."""


class PartKind(StrEnum):
    TEXT = "t"
    RESULT = "r"
    OPAQUE = "o"
    """An image, or a part of a kind that Backscroll does not know: kept or dropped whole."""


@dataclass(frozen=True, slots=True)
class Part:
    kind: PartKind
    text: str = ""
    digest: str = ""
    """Of an opaque part."""
    tokens: int = 0
    """Of an opaque part; texts are counted where they are needed."""
    answer: int = 0
    """Of a result: which of the message's `answers` it belongs to."""


@dataclass(frozen=True, slots=True)
class Call:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    role: Speaker
    parts: tuple[Part, ...] = ()
    calls: tuple[Call, ...] = ()
    name: str | None = None
    answers: tuple[str, ...] = field(default=())
    """Ids of the calls whose results this message brings."""
    hidden_tokens: int = 0
    """Upper bound of what is forwarded but has no part here: reasoning, which clients strip."""


def canonical(message: Message) -> bytes:
    """What an address is made of.

    Leaves out what clients change on the way: call ids, `cache_control`, reasoning, empty texts, a
    string against a list of one part, the order of keys in arguments.
    """
    parts = [
        [p.kind, p.text or p.digest, p.answer] if p.answer else [p.kind, p.text or p.digest]
        for p in message.parts
    ]
    calls = [[c.name, _canonical_arguments(c.arguments)] for c in message.calls]
    return orjson.dumps([message.role, message.name, parts, calls])


def _canonical_arguments(arguments: str) -> str:
    try:
        return orjson.dumps(orjson.loads(arguments), option=orjson.OPT_SORT_KEYS).decode()
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        # No JSON, or nested too deeply to be written again.
        return arguments


def unit_parts(message: Message) -> list[int]:
    """For each unit its index among the parts, or, from `len(parts)` on, among the calls."""
    texts = [i for i, p in enumerate(message.parts) if p.text]
    return texts + [len(message.parts) + i for i in range(len(message.calls))]


def units(message: Message, tools: tuple[str, ...] = ()) -> tuple[Unit, ...]:
    """The structural units of a message: each text part, then each tool call, in order.

    `tools` names the tools whose results the message brings, in the order of `answers`.
    """
    found: list[Unit] = []
    for index in unit_parts(message):
        number = len(found)
        if index < len(message.parts):
            part = message.parts[index]
            result = part.kind is PartKind.RESULT
            said = Kind.ANSWER if message.role == "assistant" else Kind.USER
            kind = Kind.TOOL_RESULT if result else said
            found.append(
                Unit(
                    unit=number,
                    kind=kind,
                    tool=tools[part.answer] if result and tools else None,
                    text=part.text,
                )
            )
        else:
            call = message.calls[index - len(message.parts)]
            text = f"{call.name}({call.arguments})"
            found.append(Unit(unit=number, kind=Kind.TOOL_CALL, tool=call.name, text=text))
    return tuple(found)


def stored_role(message: Message) -> Role:
    return Role.USER if message.role == "system" else Role(message.role)
