"""What a suite is made of: histories, questions on them, and which pieces of the history answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

PRESENT = 0.8
"""A piece counts as present when this share of its characters is in the prompt."""
Judging = Literal["pieces", "strings"]
"""Evidence is pieces that must be present, or strings that must be in the prompt as they are."""


@dataclass(frozen=True)
class Piece:
    """One message of the history."""

    id: str
    text: str
    """What is judged."""
    role: str = "user"
    message: Mapping[str, Any] | None = None
    """The message as a client sends it, where it is more than role and text (tool calls and results)."""

    def sent(self) -> dict[str, Any]:
        return {"role": self.role, "content": self.text} if self.message is None else dict(self.message)


@dataclass(frozen=True)
class Question:
    id: str
    text: str | None
    """None: nothing is added to the history; it is asked as it stands (a step of an agent)."""
    evidence: frozenset[str]
    """Ids of pieces, or the strings themselves (`judged` of the suite)."""
    kind: str = "all"
    after: int | None = None
    """How many pieces stand before the question; None: all."""


@dataclass(frozen=True)
class Case:
    """A history in the order of time, and questions asked on it."""

    name: str
    pieces: Sequence[Piece]
    questions: Sequence[Question] = field(default=())
    tools: tuple[Mapping[str, Any], ...] = ()
    """Tool declarations of every request, in the form of Chat Completions."""
    begins: int = 0
    """Turn by turn: how many pieces the first request has at least."""

    def messages(self, upto: int | None = None) -> list[dict[str, Any]]:
        """The first `upto` messages; None: all."""
        return [piece.sent() for piece in self.pieces[:upto]]

    def asked(self, question: Question) -> list[dict[str, Any]]:
        """The messages of the request that asks."""
        history = self.messages(question.after)
        return history if question.text is None else [*history, {"role": "user", "content": question.text}]
