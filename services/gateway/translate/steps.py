"""What happens in a chat answer, whatever dialect it is then told in: one block after the other."""

import uuid
from dataclasses import dataclass, field
from typing import Any, Literal

from services.gateway.translate.shape import Object

Kind = Literal["thinking", "text", "call"]


@dataclass(frozen=True)
class Usage:
    """Tokens; `prompt` with what was cached of it."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0
    reasoning: int = 0


@dataclass(frozen=True)
class Begin:
    identity: str
    """Of the answer, without a prefix."""
    model: str
    created: int


@dataclass(frozen=True)
class Open:
    kind: Kind
    call_id: str = ""
    name: str = ""


@dataclass(frozen=True)
class Piece:
    text: str


@dataclass(frozen=True)
class Close:
    pass


@dataclass(frozen=True)
class End:
    reason: str
    """As Chat Completions calls it."""
    usage: Usage
    stop: str | None = None
    """The stop sequence that was met, where the engine tells."""


@dataclass(frozen=True)
class Fail:
    message: str
    code: str
    status: int


Step = Begin | Open | Piece | Close | End | Fail


@dataclass
class Block:
    """One block of a whole answer, as the steps of it add up."""

    kind: Kind
    call_id: str = ""
    name: str = ""
    text: str = ""


@dataclass(frozen=True)
class Answer:
    begin: Begin
    blocks: list[Block]
    end: End


@dataclass
class Usages:
    """The newest account that a stream gave."""

    last: Usage = field(default_factory=Usage)

    def read(self, chunk: Object) -> None:
        if isinstance(chunk.get("usage"), dict):
            self.last = usage_of(chunk["usage"])


def usage_of(usage: Object) -> Usage:
    return Usage(
        prompt=_int(usage, "prompt_tokens"),
        cached=_int(usage.get("prompt_tokens_details"), "cached_tokens"),
        completion=_int(usage, "completion_tokens"),
        reasoning=_int(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )


def bare_id(identity: object) -> str:
    """An answer's id without its prefix, which each dialect has its own of; a new one where it has none."""
    bare = identity.rpartition("-")[2] if isinstance(identity, str) else ""
    return bare or uuid.uuid4().hex


def stop_of(choice: Object) -> str | None:
    """vLLM's name for it, and SGLang's; both tell token ids there too."""
    met: Any = choice.get("stop_reason") or choice.get("matched_stop")
    return met if isinstance(met, str) else None


def _int(value: object, name: str) -> int:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, int) else 0
