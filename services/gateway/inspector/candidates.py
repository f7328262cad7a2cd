"""What recall ranked: taken, and passed over for which reason."""

from dataclasses import dataclass

from services.gateway.inspector.recorded import Record, Told

WHY = {
    "relevance": "taken: among the best that the budget holds",
    "must": "taken for certain: a drift was found by it",
    "neighbour": "taken: it stands beside one that was taken",
    "fill": "taken to fill what the reranked ones left",
    "budget": "dropped: the budget was used up",
    "duplicate": "dropped: what was taken says most of it already",
    "rank": "dropped: too far below the best",
}
NEAR_MISSES = 8


@dataclass(frozen=True)
class Candidates:
    taken: list[Told]
    """In the order they were taken."""
    near: list[Told]
    """The best that only the budget kept out."""
    dropped: list[Told]
    """The others, best first."""
    scores: tuple[str, ...]
    """Parts of the score that are not 0 throughout."""


def candidates_of(record: Record) -> Candidates:
    taken = [c for c in record.candidates if c.taken]
    dropped = [c for c in record.candidates if not c.taken]
    near = [c for c in dropped if c.why == "budget"][:NEAR_MISSES]
    rest = [c for c in dropped if c not in near]
    names = ("terms", "dense", "fused", "rerank", "recency", "role")
    told = tuple(n for n in names if any(getattr(c, n) for c in record.candidates))
    return Candidates(taken, near, rest, told)
