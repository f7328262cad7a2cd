"""BEAM: chats of a user with an assistant of 100K, 500K and 1M tokens, ten kinds of questions."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evals.case import Case, Piece, Question


def load(root: Path, size: str) -> Iterator[Case]:
    folder = root / "beam" / size
    for file in sorted(folder.glob("*.json.gz"), key=lambda f: int(f.name.split(".")[0])):
        number = file.name.split(".")[0]
        with gzip.open(file, "rt", encoding="utf-8") as chat:
            batches = json.load(chat)
        messages = [m for batch in batches for turn in batch["turns"] for m in turn]
        pieces = [Piece(str(m["id"]), m["content"], m["role"]) for m in messages]
        known = {p.id for p in pieces}
        asked = json.loads((folder / f"{number}.probing_questions.json").read_text())
        yield Case(f"{size}-{number}", pieces, list(_questions(asked, known, f"{size}-{number}")))


def _questions(asked: dict[str, list[dict[str, Any]]], known: set[str], case: str) -> Iterator[Question]:
    for kind, questions in asked.items():
        for i, question in enumerate(questions):
            evidence = frozenset(str(e) for e in _numbers(question.get("source_chat_ids", []))) & known
            if evidence:
                yield Question(f"{case}-{kind}-{i}", question["question"], evidence, kind)


def _numbers(value: object) -> Iterator[int]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _numbers(item)
    elif isinstance(value, list):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, int):
        yield value
