"""MemDaily (zh): what a user told over some days, one question each, six kinds.

A history is some ten short messages and fits every window. So either each has unrelated text behind it
that pushes it out of the window (`load`), or many are told one after the other (`joined`).
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from evals.case import Case, Piece, Question
from evals.suites.background import background

KINDS = {
    "01": "simple",
    "02": "conditional",
    "03": "comparative",
    "04": "aggregative",
    "05": "post-processing",
    "06": "noisy",
}
UNASKED = ("[ERRORQ]", "[ERRORA]")


def load(root: Path, size: int) -> Iterator[Case]:
    """`size`: tokens of what follows each history. The kinds come in turns."""
    behind = [Piece(f"B{n}", text, "assistant") for n, text in enumerate(background("zh", size, 0))]
    for case in _in_turns(root):
        yield replace(case, pieces=[*case.pieces, *behind])


def joined(root: Path, together: int) -> Iterator[Case]:
    """So many histories, one after the other."""
    cases = _in_turns(root)
    while group := list(islice(cases, together)):
        yield Case(
            f"from {group[0].name}",
            [piece for case in group for piece in case.pieces],
            [question for case in group for question in case.questions],
        )


def _in_turns(root: Path) -> Iterator[Case]:
    files = [_read(file) for file in sorted((root / "memdaily" / "messages_and_QAs").glob("*.json.gz"))]
    while files:
        for file in list(files):
            case = next(file, None)
            if case is None:
                files.remove(file)
            else:
                yield case


def _read(file: Path) -> Iterator[Case]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        told: list[dict[str, Any]] = json.load(lines)
    kind = KINDS[file.name[:2]]
    for one in told:
        asked = one["question_list"][0]
        if asked["question"] in UNASKED or asked["answer"] in UNASKED:
            continue
        name = f"{file.name.removesuffix('.json.gz')}-{one['tid']}"
        pieces = [Piece(f"{name}-{m['mid']}", m["message"]) for m in one["message_list"]]
        evidence = frozenset(f"{name}-{n}" for n in asked["target_step_id"])
        yield Case(name, pieces, [Question(name, asked["question"], evidence, kind)])
