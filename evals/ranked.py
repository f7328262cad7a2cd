"""R@k: where evidence stands in the order in which messages were recalled."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from backscroll.engine.template import HEAD_ROLES
from evals.case import Case, Question
from evals.judged import Judged


def recalled(record: Mapping[str, Any] | None, case: Case) -> list[str]:
    """Ids of pieces in the order in which the record of a request says they were taken, then near misses."""
    if record is None:
        return []
    placed = [piece.id for piece in case.pieces if piece.role not in HEAD_ROLES]
    return [placed[position] for position in dict.fromkeys(c["position"] for c in record["candidates"])]


def recall_at(judged: Judged, ranked: Sequence[str], question: Question, ranks: Sequence[int]) -> Judged:
    """Each piece counts once, where it is recalled first."""
    shares = tuple(
        (k, len(question.evidence.intersection(ranked[:k])) / len(question.evidence)) for k in ranks
    )
    return replace(judged, at=shares)
