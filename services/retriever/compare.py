"""What is decided by reading the first candidates: who says them, what repeats, what is new in them."""

from dataclasses import replace

import numpy as np

from services.retriever.identifiers import by_coverage
from services.retriever.interleave import interleave
from services.retriever.locate import Floats, Ints, Pool
from services.retriever.near import near_duplicates
from services.retriever.rank import Ranking, in_order
from services.retriever.search import Case
from services.retriever.speaker import favoured, named
from services.retriever.texts import Texts

BUDGETS = 3
"""Texts for so many budgets are read."""
MOST = 600
"""Texts read at most; 300 take the store 8 ms."""


async def with_speakers(case: Case, pool: Pool, ranking: Ranking, texts: Texts) -> Ranking:
    """The ranking with what is said by somebody whom the question names lifted by `speaker_bonus`."""
    profile, search = case.profile, case.request.search
    names = named(search[0].text) if profile.speaker_bonus and search else frozenset()
    if not names:
        return ranking
    rows = ranking.candidates
    first = interleave(
        in_order(profile, pool.unit_tokens, ranking.fused, rows).tolist(),
        in_order(profile, pool.unit_tokens, ranking.single, rows).tolist() if profile.hop_share else [],
        pool.tokens,
        profile.hop_share,
    )
    first = first[: _enough(pool.tokens[first], case.request.budget)]
    stored = await texts.of(first)
    said = favoured([text.text if text else "" for text in stored], names)
    units = pool.unit_index[np.array(first, dtype=np.int64)[said]]
    factor = np.where(np.isin(pool.unit_index, units), 1 + profile.speaker_bonus, 1.0)
    return replace(ranking, fused=ranking.fused * factor, single=ranking.single * factor)


async def arranged(
    case: Case, order: list[int], cost: Ints, scores: Floats, texts: Texts
) -> tuple[list[int], set[int]]:
    """The order without what repeats, new identifiers first where the profile wants that; what repeats."""
    profile = case.profile
    if profile.near_duplicate is None and not profile.identifier_bonus:
        return order, set()
    enough = _enough(cost[order], case.request.budget)
    first, rest = order[:enough], order[enough:]
    stored = await texts.of(first)
    known = {row: text.text for row, text in zip(first, stored, strict=True) if text}
    repeated: set[int] = set()
    if profile.near_duplicate is not None:
        repeated = near_duplicates(first, known, profile.near_duplicate)
        first = [row for row in first if row not in repeated]
    if profile.identifier_bonus:
        first = by_coverage(first, known, scores, cost, profile.identifier_bonus)
    return [*first, *rest], repeated


def _enough(tokens: Ints, budget: int) -> int:
    return min(int(np.searchsorted(np.cumsum(tokens), BUDGETS * budget)) + 1, MOST)
