"""LoCoMo: long chats of two friends, questions with the turns that answer (labels audited)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evals.case import Case, Piece, Question

KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
SESSIONS = 60


def load(root: Path, audited: bool = True) -> Iterator[Case]:
    folder = root / "locomo"
    fixed: dict[str, list[str]] = {}
    if audited:
        errors = json.loads((folder / "audit_errors.json").read_text())
        fixed = {e["question_id"]: e["correct_evidence"] for e in errors if e.get("correct_evidence")}
    for number, chat in enumerate(json.loads((folder / "locomo10.json").read_text())):
        pieces = list(_pieces(chat["conversation"]))
        known = {p.id for p in pieces}
        questions = []
        for i, asked in enumerate(chat["qa"]):
            labels = fixed.get(f"locomo_{number}_qa{i}", asked.get("evidence") or [])
            evidence = frozenset(_turns(labels)) & known
            if evidence:
                name = f"{chat['sample_id']}-{i}"
                questions.append(Question(name, asked["question"], evidence, KINDS[asked["category"]]))
        yield Case(str(chat["sample_id"]), pieces, questions)


def _pieces(conversation: dict[str, Any]) -> Iterator[Piece]:
    """The first speaker is the user, the second the assistant; each session opens with its date."""
    user = conversation["speaker_a"]
    for n in range(1, SESSIONS):
        turns = conversation.get(f"session_{n}")
        if not isinstance(turns, list):
            continue
        date = conversation.get(f"session_{n}_date_time", "")
        for i, turn in enumerate(turns):
            text = f"{turn['speaker']}: {turn['text']}"
            if turn.get("blip_caption"):
                text += f" [image: {turn['blip_caption']}]"
            if i == 0 and date:
                text = f"[{date}] {text}"
            yield Piece(turn["dia_id"], text, "user" if turn["speaker"] == user else "assistant")


def _turns(labels: list[str]) -> Iterator[str]:
    """`D8:6; D9:17`, `D:11:26` and `D30:05` are all in use."""
    for label in labels:
        for session, turn in re.findall(r"D:?(\d+):(\d+)", label):
            yield f"D{int(session)}:{int(turn)}"
