"""A record as the pages read it (services/gateway/http/record.py writes it)."""

from functools import cached_property
from typing import Any

from pydantic import BaseModel, ConfigDict

from shared.contracts.rpc import Assemble
from shared.conversation.history import History
from shared.prompt.plan import Layout

TAKEN = frozenset({"relevance", "must", "neighbour", "fill"})
"""What `why` says of candidates that were taken (`Candidate`)."""


class Told(BaseModel):
    """A candidate with the parts of its score and the beginning of its text."""

    model_config = ConfigDict(frozen=True)

    position: int
    unit: int
    part: int
    start: int
    end: int
    tokens: int
    terms: float
    dense: float
    fused: float
    rerank: float
    recency: float = 0.0
    role: float = 0.0
    score: float
    why: str
    text: str = ""

    @property
    def taken(self) -> bool:
        return self.why in TAKEN

    @property
    def chunk(self) -> tuple[int, int, int]:
        return self.position, self.unit, self.part


class Inherited(BaseModel):
    """The state that the request found: the one of its longest known beginning."""

    tip: str = ""
    length: int


class Used(BaseModel):
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None


class Prefix(BaseModel):
    """How much of the prompt the engine had read before, and why not the rest; tokens."""

    tokens: int
    shared: int
    parts: dict[str, int] = {}


class Record(BaseModel):
    """Fields with a default may be missing in records of earlier versions."""

    id: str
    session: str
    model: str
    at: float
    mode: str
    window: int
    limit: int
    prompt_tokens: int
    prompt_tokens_exact: bool
    action: str | None = None
    reasons: tuple[str, ...] = ()
    budget: dict[str, int] = {}
    drift: dict[str, float] = {}
    layout: Layout
    candidates: tuple[Told, ...] = ()
    inherited: Inherited | None = None
    shrunk: tuple[str, ...] = ()
    rejected_excerpts: int = 0
    degraded: tuple[str, ...] = ()
    timings_s: dict[str, float] = {}
    first_token_s: float | None = None
    usage: Used = Used()
    prompt: dict[str, Any]
    length: int = 0
    """Addressed messages of the history."""
    profile: str = ""
    found: int = 0
    prefix: Prefix | None = None
    places: tuple[int | None, ...] = ()
    asked: Assemble | None = None

    @cached_property
    def history(self) -> History | None:
        return History.unpack(self.asked.history) if self.asked else None

    @property
    def ratio(self) -> float:
        """Engine tokens per token of the upper bound."""
        return self.asked.ratio if self.asked else 1.0

    @property
    def counted(self) -> int:
        """Tokens of the prompt: the engine's own count where it told one."""
        return self.usage.prompt_tokens or self.prompt_tokens

    @property
    def is_bound(self) -> bool:
        return self.usage.prompt_tokens is None and not self.prompt_tokens_exact

    def turn(self, position: int) -> int | None:
        history = self.history
        return int(history.turns[position]) if history and position < len(history) else None

    def address(self, position: int) -> bytes | None:
        """Names the message by what it says; None where the record does not tell."""
        history = self.history
        return history.address(position) if history and position < len(history) else None
