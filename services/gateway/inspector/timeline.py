"""A session as a line of requests that forks: which continues which, by the state that each inherited."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.bus.records import Listed


@dataclass(frozen=True)
class Row:
    number: int
    """From 1, oldest first, on this page."""
    seen: Listed
    parent: int | None
    """Number of the request that it continues, where that is on this page."""
    lane: int
    """0 for the first line; each fork opens the next."""
    relation: str
    """`continues`, `forks`, `again` (the same request once more), `begins`, or `earlier`: what it continues
    has no record, or is not on this page."""

    @property
    def told(self) -> Mapping[str, Any]:
        return self.seen.summary

    @property
    def tokens(self) -> int:
        return int(self.told.get("told") or self.told.get("prompt_tokens") or 0)


def rows_of(listed: Sequence[Listed]) -> list[Row]:
    """`listed` newest first, as the stream tells; the rows oldest first."""
    rows: list[Row] = []
    by_tip: dict[str, int] = {}
    continued: set[int] = set()
    lanes = 0
    for number, seen in enumerate(reversed(listed), start=1):
        tip, inherited = seen.summary.get("tip"), seen.summary.get("parent")
        parent = by_tip.get(inherited) if inherited else None
        if parent is None:
            relation, lane = "earlier" if inherited else "begins", lanes
        elif inherited == tip:
            relation, lane = "again", rows[parent - 1].lane
        elif parent in continued:
            relation, lane = "forks", lanes
        else:
            relation, lane = "continues", rows[parent - 1].lane
        if relation in ("continues", "forks") and parent is not None:
            continued.add(parent)
        if lane == lanes:
            lanes += 1
        rows.append(Row(number, seen, parent, lane, relation))
        if tip and relation != "again":
            by_tip[tip] = number
    return rows


def lasting(rows: Sequence[Row], tip: str, before: int) -> Row | None:
    """The newest request before a sequence that left this state."""
    return next((r for r in reversed(rows) if r.told.get("tip") == tip and r.seen.sequence < before), None)
