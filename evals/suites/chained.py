"""Chained facts: an answer that needs one, two or three of many facts of one form, in essays.

`load` takes the stories of bAbI (Weston et al. 2015, tasks 1 to 3); `make` tells stories of the same kind.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.case import Case, Question
from evals.suites.background import anywhere, background, hidden
from evals.suites.world import tell

HOPS = ("one hop", "two hops", "three hops")
TASKS = ("qa1_single-supporting-fact", "qa2_two-supporting-facts", "qa3_three-supporting-facts")


@dataclass(frozen=True)
class Asked:
    """Of a story of bAbI."""

    facts: tuple[tuple[str, str], ...]
    """Number and sentence."""
    question: str
    supporting: frozenset[str]


def make(seed: int, size: int, cases: int) -> Iterator[Case]:
    """One story a case, a question of each number of hops on it."""
    for number in range(cases):
        rng = random.Random(f"chained {seed} {number}")
        story = tell(rng)
        questions = [
            Question(f"{number}-{hops}", text, frozenset(f"F{n}" for n in supporting), HOPS[hops - 1])
            for hops, (text, supporting) in enumerate(story.questions, start=1)
        ]
        facts = [(f"F{n}", fact) for n, fact in enumerate(story.facts)]
        texts = background("en", size, seed + number)
        yield Case(
            f"chained-{number}", hidden(texts, facts, anywhere(len(facts), len(texts), rng)), questions
        )


def load(root: Path, size: int, cases: int) -> Iterator[Case]:
    """So many stories of each task, a question each."""
    for task, kind in zip(TASKS, HOPS, strict=True):
        rng = random.Random(task)
        found = list(stories((root / "babi" / "en" / f"{task}_test.txt").read_text().splitlines()))
        for number, asked in enumerate(rng.sample(found, min(cases, len(found)))):
            name = f"{task.split('_')[0]}-{number}"
            texts = background("en", size, number)
            pieces = hidden(texts, asked.facts, anywhere(len(asked.facts), len(texts), rng))
            yield Case(name, pieces, [Question(name, asked.question, asked.supporting, kind)])


def stories(lines: Sequence[str]) -> Iterator[Asked]:
    """Numbered lines; a story begins at 1; a question is followed by a tab, the answer and its facts."""
    facts: list[tuple[str, str]] = []
    for line in lines:
        number, text = line.split(" ", 1)
        if number == "1":
            facts = []
        if "\t" in text:
            question, _, supporting = text.split("\t")
            yield Asked(tuple(facts), question.strip(), frozenset(f"F{n}" for n in supporting.split()))
        else:
            facts.append((f"F{number}", text))
