"""What a suite is made of: histories, questions on them, and which pieces of the history answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field

PRESENT = 0.8
"""A piece counts as present when this share of its characters is in the prompt."""


@dataclass(frozen=True)
class Piece:
    """One message of the history. `role` is user or assistant."""

    id: str
    text: str
    role: str = "user"


@dataclass(frozen=True)
class Question:
    id: str
    text: str
    evidence: frozenset[str]
    kind: str = "all"


@dataclass(frozen=True)
class Case:
    """A history in the order of time, and questions asked after it."""

    name: str
    pieces: Sequence[Piece]
    questions: Sequence[Question] = field(default=())

    def messages(self) -> list[dict[str, str]]:
        return [{"role": p.role, "content": p.text} for p in self.pieces]
