"""One request of a conversation that is sent turn by turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evals.turns.script import Kind


class Found(NamedTuple):
    """A question that a prompt was judged for."""

    question: str
    kind: str
    share: float
    """Of its evidence in the prompt."""


@dataclass(frozen=True)
class Turn:
    case: str
    window: int
    """The engine's window, tokens."""
    length: int
    """Messages of the history."""
    whole: int
    """Tokens of the history as the client sent it."""
    kind: Kind = "turn"
    tokens: int = 0
    """Of the prompt; 0: refused."""
    shared: int = 0
    """Of them in the longest common prefix with the conversation's prompt before."""
    best: int = 0
    """Of them in whole blocks that any prompt of the conversation began with."""
    action: str = "passthrough"
    degraded: tuple[str, ...] = ()
    found: tuple[Found, ...] = ()
    faults: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def over(self) -> bool:
        """The client's request is longer than the window: only such requests tell systems apart."""
        return self.whole > self.window

    @property
    def refused(self) -> bool:
        return self.tokens == 0


@dataclass(frozen=True)
class Embedded:
    """Of a whole replay."""

    window: int
    texts: int
    """As often as the services asked."""
    units: int
    """Different ones that clients sent."""

    @property
    def share(self) -> float:
        """Units embedded / units seen. Above 1: some twice, or texts that nobody said."""
        return self.texts / self.units if self.units else float("nan")


def cached_share(turns: Sequence[Turn], *, best: bool = False) -> float:
    """Tokens that were computed before over all tokens of the prompts."""
    total = sum(turn.tokens for turn in turns)
    return sum(turn.best if best else turn.shared for turn in turns) / total if total else float("nan")


def prefilled(turns: Sequence[Turn]) -> float:
    """Tokens to compute, per request."""
    sent = [turn for turn in turns if not turn.refused]
    return sum(turn.tokens - turn.shared for turn in sent) / len(sent) if sent else float("nan")
