"""In which order candidates are taken."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from services.retriever.fill import by_value
from services.retriever.fuse import above_most, fuse, rank_scale, to_best, to_range
from services.retriever.locate import Bools, Floats, Ints, Pool
from services.retriever.profiles import Profile
from services.retriever.score import recency, role_weight, score
from services.retriever.smooth import Lent

OWN = 1e-6
"""Of a part's own score beside its unit's."""


@dataclass(frozen=True)
class Ranking:
    """Arrays have one entry a row of the pool."""

    terms: Floats
    """BM25, with what neighbours lend where the profile smooths."""
    fused: Floats
    single: Floats
    """Relevance of each chunk alone, with the terms of the second hop."""
    candidates: Ints
    """Rows that may be taken, best fused first."""
    inside: Ints
    """Rows that stand in the prompt, best fused first."""


@dataclass(frozen=True)
class Scores:
    rerank: Floats
    score: Floats
    value: Floats
    """What the rest is ordered by: relevance, and where the profile says so recency and role."""
    head: Ints
    """Rows in the order to take them by score."""
    rest: Ints
    """Rows after those, in fused order per token."""
    single: Ints
    """All rows that may be taken, each by its own relevance per token; none where the profile has no
    second hop."""
    recency: Floats
    role: Floats


def standing_out(pool: Pool, asking: int, units: int) -> Floats:
    """By how much each chunk is more like the question than most of the `units` of the request."""
    return above_most(np.where(pool.position == asking, np.nan, pool.dense), units)


def rank(profile: Profile, pool: Pool, lent: Lent | None, asking: int) -> Ranking:
    """The message that asks (position `asking`) counts on no side: it resembles itself more than anything
    that answers it."""
    asked = pool.position == asking
    terms = np.where(asked, 0.0, pool.terms)
    hop = np.where(asked, 0.0, pool.hop)
    dense = alone = to_range(np.where(asked, np.nan, pool.dense))
    if lent is not None:
        terms = np.where(asked, 0.0, terms + lent.terms[pool.unit_index])
        near = standing_out(pool, asking, len(lent.dense)) + lent.dense[pool.unit_index]
        near = to_best(np.where(asked, 0.0, near))
        dense = (1 - profile.dense_smooth) * dense + profile.dense_smooth * near
    if profile.dense_only and dense.any():
        terms = hop = np.zeros_like(terms)
    fused = fuse(terms, dense, profile.dense_weight)
    single = fuse(hop, alone, profile.dense_weight) if profile.hop_share else fused
    order = by_value(fused, pool.tokens, 0.0, 1)
    order = order[fused[order] > 0]
    candidates = order[~pool.inside[order] & ~asked[order]]
    return Ranking(
        terms=terms,
        fused=fused,
        single=single,
        candidates=candidates[: profile.candidates],
        inside=order[pool.inside[order] & ~asked[order]],
    )


def settle(
    profile: Profile,
    pool: Pool,
    ranking: Ranking,
    units: int,
    reranked: Floats | None,
    fallback: str,
) -> Scores:
    """`reranked` has one score for each of the first `rerank_head` candidates; None: nobody scored them.

    Then the head of a profile that scores by the reranker is in fused rank order, without the formula
    (its recency would outweigh forty ranks), or, with the fallback `zero`, scored with 0 in its place.
    """
    fused, rows = ranking.fused, ranking.candidates
    rerank = np.zeros(len(pool))
    total = fused.copy()
    by_reranker = profile.weights.fused == 0
    recent, role = recency(pool.unit_index, units), role_weight(pool.role)
    head: Ints = rows[: profile.rerank_head] if by_reranker or reranked is not None else rows[:0]
    if reranked is not None:
        rerank[head] = reranked
    if reranked is None and fallback == "fused":
        total[head] = rank_scale(fused[head])
    else:
        total[head] = score(profile.weights, rerank[head], fused[head], recent[head], role[head])
    single = ranking.single
    rest = rows[:0] if by_reranker else rows[len(head) :]
    value = total
    if not by_reranker:
        value = (to_best(total) + profile.recency_bonus * recent) * role**profile.role_power
    if profile.whole_units:
        value, single = whole(value, pool.unit_index), whole(single, pool.unit_index)
    return Scores(
        rerank=rerank,
        score=total,
        value=value,
        head=in_order(profile, pool.unit_tokens, value, head),
        rest=in_order(profile, pool.unit_tokens, value, rest),
        single=in_order(profile, pool.unit_tokens, single, rows if profile.hop_share else rows[:0]),
        recency=recent,
        role=role,
    )


def worth_taking(profile: Profile, pool: Pool, ranking: Ranking, *, among: int) -> Bools:
    """Stopping below 5% of the best loses nothing and saves 7% of the tokens; 10% costs .1.

    `among` so many first of all that is ranked, what stands in the prompt included; 0: no limit.
    """
    best = ranking.fused[ranking.candidates].max(initial=0.0)
    # What the second hop found has little but its own score: neighbours lend it nothing.
    scores = np.maximum(ranking.fused, ranking.single)
    if profile.whole_units:
        scores = whole(scores, pool.unit_index)
    worth: Bools = scores >= profile.stop * best
    if among:
        ranked = np.concatenate((ranking.candidates, ranking.inside))
        first = ranked[np.argsort(-ranking.fused[ranked], kind="stable")][:among]
        worth &= np.isin(np.arange(len(worth)), first)
    return worth


def whole(scores: Floats, unit_index: Ints) -> Floats:
    """Each part has its unit's best score, so that a long answer is taken whole; its own orders the parts."""
    best = np.zeros(int(unit_index.max(initial=0)) + 1)
    np.maximum.at(best, unit_index, scores)
    by_unit: Floats = (1 - OWN) * best[unit_index] + OWN * scores
    return by_unit


def in_order(profile: Profile, unit_tokens: Ints, scores: Floats, rows: npt.NDArray[np.int64]) -> Ints:
    """Per token of the whole unit: by its own tokens a part of a long answer would push out the short
    messages that say more (BEAM 100K at 8K: .537/.664 by the part, .620/.710 by the unit)."""
    rows = np.sort(rows)
    return rows[by_value(scores[rows], unit_tokens[rows], profile.token_exponent, profile.token_floor)]
