"""One suite under one system: what is asked, and what its results are filed under."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evals import machine
from evals.capture import LARGEST, model_for, window_for
from evals.case import Case, Question
from evals.judge import head_tokens
from evals.results import Run, made_here
from evals.suite import Suite
from evals.systems import System
from shared.prompt.budget import limits_of
from shared.settings import Settings

# Above 131,072 tokens the defaults cap a prompt; a budget is to be used.
UNCAPPED = {"recent_window_tokens": LARGEST, "memory_max_tokens": LARGEST}
SHARES = (100, 95, 90, 85, 80, 75, 70, 60, 50)
"""Percent of a budget that Backscroll plans for: its plans are estimates, made before anything is rendered,
and come out up to 25% longer where what is chosen is denser than the conversation. The first that keeps to
the budget is judged."""
ONLY_RECALLED = {"recent_window_tokens": 1}
"""For R@k: every message is a candidate, none stands in the prompt as recent."""


@dataclass(frozen=True)
class Job:
    suite: Suite
    system: System
    budgets: tuple[int, ...]
    vectors: bool
    seed: int
    given: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the command line."""
    cases: int | None = None
    questions: int | None = None
    """At most so many, of each case."""

    @property
    def settings(self) -> dict[str, Any]:
        if self.system.baseline:
            return {}
        base = UNCAPPED if self.suite.mode == "questions" else {}
        ranked = ONLY_RECALLED if self.suite.ranks else {}
        return {**base, **ranked, **self.suite.settings, **self.system.settings, **self.given}

    def run(self) -> Run:
        return Run(
            suite=self.suite.name,
            system=self.system.name,
            settings=self.settings,
            vectors=self.vectors,
            seed=self.seed,
            code=machine.code_version(product=self.system.baseline is None),
            made=made_here(),
        )

    def windows(self, cases: Sequence[Case]) -> dict[str, int]:
        """Of the models of the capturing engine. Played turn by turn, the window itself is the budget."""
        if self.suite.mode != "questions":
            return {model_for(budget): budget for budget in self.budgets}
        limits = limits_of(Settings(**(UNCAPPED | self.settings)))
        head = min((head_tokens(case) for case in cases), default=0)
        tools = any(piece.role == "tool" for case in cases for piece in case.pieces)
        return {
            model_for(budget, share): window_for(budget * share // 100, limits, works_with_tools=tools) + head
            for budget in self.budgets
            for share in SHARES
        }

    def __str__(self) -> str:
        return f"{self.suite.name} · {self.system.name}"


def spread(questions: Sequence[Question], most: int | None) -> list[Question]:
    """At most so many, evenly over the case."""
    if most is None or len(questions) <= most:
        return list(questions)
    return [questions[i * len(questions) // most] for i in range(most)]
