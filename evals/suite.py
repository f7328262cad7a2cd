"""How a set of cases is run and judged."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from evals.case import Case, Judging
from evals.data import data_root


@dataclass(frozen=True)
class Quick:
    """What `--quick` takes of a suite."""

    cases: int
    questions: int
    """Of each case, evenly over it."""
    budgets: tuple[int, ...]
    vectors: bool = True


@dataclass(frozen=True)
class Suite:
    name: str
    budgets: tuple[int, ...]
    """Tokens that recent turns and recalled text together may take."""
    load: Callable[[Path], Iterable[Case]] | None = None
    """Reads cases from the evaluation data; a suite has this or `make`."""
    make: Callable[[int], Iterable[Case]] | None = None
    """Makes cases from a seed, without any data."""
    language: str = "en"
    mode: Literal["questions", "turns", "replay"] = "questions"
    """`questions`: each on the whole history before it. `turns`: the history turn by turn, as a client
    sends it, with questions along the way; a budget is the engine's window. `replay`: the same, with
    requests sent again and edited, and embeddings counted."""
    judged: Judging = "pieces"
    vectors: bool = True
    """False: by terms alone, where vectors would take hours."""
    ranks: tuple[int, ...] = ()
    """k of R@k: the share of evidence in the first k recalled pieces."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the product, under every system."""
    quick: Quick | None = None
    """None: not among the quick suites."""
    note: str = ""
    """What a reader of the figures must know."""

    def cases(self, data: Path | None, seed: int) -> Iterable[Case]:
        """Raises `NoData` where it reads the evaluation data and there is none (`data`: where it lies)."""
        if self.make is not None:
            return self.make(seed)
        if self.load is None:
            raise ValueError(f"the suite {self.name} has no cases")
        return self.load(data_root(data))
