"""ER and AEH, without a judge model.

ER@B is the mean share of a question's evidence that is in the prompt of B tokens; AEH@B the share of
questions with all of their evidence in it. Intervals are bootstrapped over conversations, since the
questions of one conversation are not independent.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evals.case import PRESENT, Case, Question

SHINGLE = 24
"""Characters; long enough not to be found by chance, short enough for a cut sentence."""
ROUNDS = 1000


@dataclass(frozen=True)
class Judged:
    """One question at one budget."""

    case: str
    question: str
    kind: str
    found: float
    """Share of the evidence that is present."""
    tokens: int
    """Of the prompt."""

    @property
    def all_found(self) -> bool:
        return self.found >= 1.0


def present(text: str, prompt: str) -> bool:
    """Whether at least 80% of the text's characters stand in the prompt, in pieces of some length."""
    if not text.strip():
        return True
    if text in prompt:
        return True
    size = min(SHINGLE, len(text))
    covered = bytearray(len(text))
    for start in range(0, len(text) - size + 1):
        if text[start : start + size] in prompt:
            covered[start : start + size] = b"\1" * size
    return sum(covered) >= PRESENT * len(text)


def judge(case: Case, question: Question, prompt: str, tokens: int) -> Judged:
    texts = {p.id: p.text for p in case.pieces}
    found = [present(texts[e], prompt) for e in sorted(question.evidence)]
    return Judged(case.name, question.id, question.kind, sum(found) / len(found), tokens)


def er(judged: Sequence[Judged]) -> float:
    return sum(j.found for j in judged) / len(judged)


def aeh(judged: Sequence[Judged]) -> float:
    return sum(j.all_found for j in judged) / len(judged)


def interval(
    judged: Sequence[Judged], metric: Callable[[Sequence[Judged]], float], seed: int = 1
) -> tuple[float, float]:
    """95%, over conversations drawn with replacement."""
    by_case: dict[str, list[Judged]] = defaultdict(list)
    for j in judged:
        by_case[j.case].append(j)
    cases = list(by_case.values())
    rng = random.Random(seed)
    values = sorted(
        metric([j for case in rng.choices(cases, k=len(cases)) for j in case]) for _ in range(ROUNDS)
    )
    return values[int(0.025 * ROUNDS)], values[int(0.975 * ROUNDS) - 1]
