"""What a run finds out about questions, one row each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Judged:
    """One question at one budget."""

    case: str
    question: str
    kind: str
    budget: int
    found: float
    """Share of the evidence that is in the prompt."""
    tokens: int
    """Of the prompt, as the engine counts them."""
    seconds: float = 0.0
    """From the request to the answer of an engine that answers at once."""
    digest: str = ""
    """Of the prompt, to compare it with that of another process."""
    faults: tuple[str, ...] = ()
    """Gates that it fails: `gate: what is wrong`."""
    degraded: tuple[str, ...] = ()
    """What the request went without."""
    at: tuple[tuple[int, float], ...] = ()
    """R@k: the share of the evidence among the first k recalled pieces, for each k."""

    @property
    def all_found(self) -> bool:
        return self.found >= 1.0


@dataclass(frozen=True)
class Repeated:
    """Prompts made again from nothing, in fresh services: how many came out otherwise."""

    case: str
    budget: int
    asked: int
    differed: int
    """The gate `determinism`: must be 0."""
