"""How a set of cases is run and judged."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evals.case import Case


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
    mode: Literal["questions", "turns"] = "questions"
    """`questions`: each on the whole history before it. `turns`: the history turn by turn, as a client
    sends it, with questions along the way."""
    judged: Literal["pieces", "strings"] = "pieces"
    """Evidence is pieces of which 80% of the characters must be in the prompt, or strings that must be."""
    vectors: bool = True
    """False: by terms alone, where vectors would take hours."""
    ranks: tuple[int, ...] = ()
    """k of R@k: the share of evidence in the first k recalled pieces."""
    quick: Quick | None = None
    """None: not among the quick suites."""
    note: str = ""
    """What a reader of the figures must know."""
