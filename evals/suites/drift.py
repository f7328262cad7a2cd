"""Drift: all questions of a history, shuffled, in one conversation that goes on.

Each question and its answer stay in the history, so that what was put into the prompt for one question
stands before the next.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from evals.case import Case, Piece

ANSWER = "ok"
"""What the capturing engine answers."""


def load(root: Path, of: Callable[[Path], Iterable[Case]], seed: int = 1) -> Iterator[Case]:
    for case in of(root):
        yield drifting(case, seed)


def drifting(case: Case, seed: int) -> Case:
    """The questions as turns behind the history; each is judged on the prompt that asks it."""
    order = [question for question in case.questions if question.text is not None]
    random.Random(f"{seed} {case.name}").shuffle(order)
    pieces = list(case.pieces)
    begins = len(pieces)
    questions = []
    for number, question in enumerate(order):
        pieces.append(Piece(f"Q{number}", question.text or ""))
        questions.append(replace(question, text=None, after=len(pieces)))
        pieces.append(Piece(f"A{number}", ANSWER, "assistant"))
    return replace(case, pieces=pieces, questions=questions, begins=begins + 1)
