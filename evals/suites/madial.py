"""MADial-Bench (zh): which memories of a user a dialogue calls for."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evals.case import Case, Piece, Question


def load(root: Path) -> Iterator[Case]:
    """One case a user: the authors rank a user's own memories only."""
    folder = root / "madial_bench" / "ch"
    memories: dict[str, dict[str, Any]] = {}
    for line in _lines(folder / "MADial-Bench-zh-memory.json"):
        memories |= line
    dialogues = list(enumerate(_lines(folder / "MADial-Bench-zh-dialogue.json")))
    for user in sorted({dialogue["user-id"] for _, dialogue in dialogues}):
        own = {number: memory for number, memory in memories.items() if memory["user-id"] == user}
        pieces = [Piece(n, f"{m['time']} {m['scene']} {m['event']}") for n, m in own.items()]
        questions = []
        for number, dialogue in dialogues:
            evidence = frozenset(map(str, dialogue["relevant-id"])) & own.keys()
            if evidence and dialogue["user-id"] == user:
                said = "".join(dialogue["dialogue"][1 : dialogue["test-turn"][0]])
                questions.append(Question(f"zh-{number}", said, evidence))
        yield Case(f"user-{user}", pieces, questions)


def _lines(file: Path) -> Iterator[Any]:
    with file.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())
