"""What a dialect is: one small module with these names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from shared.conversation.message import Message
from shared.prompt.render import Edit


@dataclass(frozen=True)
class Usage:
    """What an engine's answer tells about its prompt, tokens; None where it does not say."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    window_full: bool = False
    """The answer ended because the window was full, under status 200."""


class Dialect(Protocol):
    """Read a body's messages, write them back, read usage, shape an error.

    A raw message is the JSON of one item of the list `ITEMS`, as it came. Nothing here keeps state.
    """

    @property
    def NAME(self) -> str: ...

    @property
    def PATH(self) -> str:
        """Under the engine's `/v1`, and under our own."""

    @property
    def ITEMS(self) -> str:
        """The field that carries the history."""

    @property
    def TAKES_TEXT(self) -> bool:
        """A string in place of the list stands for one user message."""

    @property
    def READS(self) -> frozenset[str]:
        """Fields of the body that Backscroll parses."""

    @property
    def HEAD(self) -> tuple[str, ...]:
        """Fields that become part of the prompt beside the messages."""

    @property
    def MAX_TOKENS(self) -> tuple[str, ...]:
        """Names of the output limit; the first one that is there counts."""

    @property
    def LEAST_TOKENS(self) -> int:
        """The smallest output limit that the dialect knows."""

    @property
    def KEEP_ALIVE(self) -> bytes:
        """An event of a stream that says nothing, framed."""

    def passes_through(self, values: Mapping[str, object]) -> bool:
        """By the fields of `READS`: the history is not in the request, so it is forwarded as it came."""

    def read_message(self, raw: bytes, index: int, image_tokens: int) -> Message:
        """Raises `InvalidRequest` naming the field."""

    def edit_message(self, raw: bytes, message: Message, edit: Edit) -> bytes:
        """Leave ranges out, put text before or after; everything else stays as it is."""

    def new_user_message(self, text: str) -> bytes: ...

    def usage_of(self, answer: Mapping[str, Any]) -> Usage | None:
        """Of a whole answer, or of one event of a stream; None where it tells none."""

    def error_body(self, message: str, code: str, status: int, field: str | None = None) -> bytes: ...

    def error_event(self, message: str, code: str, status: int) -> bytes:
        """The same as an event of a stream, framed."""


def integer(value: object, name: str) -> int | None:
    """A field of an answer, where it is an object with an integer there."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None
