"""The candidates that the budget takes, as places in the request."""

import numpy as np

from services.retriever.compare import arranged, with_speakers
from services.retriever.excerpts import candidate, cut_to_fit
from services.retriever.expand import neighbours
from services.retriever.fill import Taken, fill
from services.retriever.interleave import interleave
from services.retriever.locate import Floats, Ints, Pool
from services.retriever.mmr import mmr
from services.retriever.rank import Ranking, settle, worth_taking
from services.retriever.search import Case
from services.retriever.texts import Texts
from shared.contracts.rpc import Candidate
from shared.errors import DependencyUnavailable
from shared.models.port import Reranker
from shared.prompt.plan import LABEL_TOKENS

MOST_DROPPED = 200
"""They are told, for whoever asks why a text is not in a prompt: some 25 KB a reply, before compression."""


async def choose_chunks(
    case: Case, pool: Pool, ranking: Ranking, texts: Texts, reranked: Floats | None, fallback: str
) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
    """What was chosen, in the order it was taken, and the near misses, best first.

    The chosen cost at most `budget`, each with its label. `reranked` and `fallback` as in `settle`.
    """
    profile, budget = case.profile, case.request.budget
    cost: Ints = pool.tokens + LABEL_TOKENS
    ranking = await with_speakers(case, pool, ranking, texts)
    scores = settle(profile, pool, ranking, int(case.history.unit_offsets[-1]), reranked, fallback)
    head = scores.head
    if profile.mmr_balance is not None:
        vectors = [stored.vector if stored else None for stored in await texts.of(head)]
        head = head[mmr(scores.score[head], vectors, profile.mmr_balance)]
    order: list[int] = np.concatenate((head, scores.rest)).tolist()
    order = interleave(order, scores.single.tolist(), cost, profile.hop_share)

    worth = worth_taking(profile, pool, ranking, among=case.request.among_best)
    reasons = {row: "budget" if worth[row] else "rank" for row in order}
    open_rows = [row for row in order if worth[row]]
    open_rows, repeated = await arranged(case, open_rows, cost, scores.value, texts)
    reasons |= dict.fromkeys(repeated, "duplicate")

    must = _must_rows(case, pool)
    taken = fill(open_rows, must, cost, int(budget * (1 - profile.expand_ratio)))
    rest = set(scores.rest.tolist()) if len(head) else set()
    why = {t.row: "fill" if t.row in rest else "relevance" for t in taken} | dict.fromkeys(must, "must")
    if profile.expand_ratio:
        beside = _beside(case, pool, taken, cost)
        taken += beside
        why |= {t.row: "neighbour" for t in beside}

    chosen: dict[int, Candidate] = {}
    for t in taken:
        whole = candidate(pool, ranking, scores, t.row, why[t.row])
        part = whole if t.tokens == cost[t.row] else await cut_to_fit(case, whole, t, texts)
        if part is not None:
            chosen[t.row] = part
    missed = [row for row in order if row not in chosen][:MOST_DROPPED]
    dropped = tuple(candidate(pool, ranking, scores, row, reasons[row]) for row in missed)
    return tuple(chosen.values()), dropped


async def rerank_head(
    reranker: Reranker, asked: str, case: Case, ranking: Ranking, texts: Texts
) -> tuple[Floats | None, tuple[str, ...]]:
    """Scores of the head, and what is degraded. No scores where no scorer ranks, or where it is down."""
    head = ranking.candidates[: case.profile.rerank_head]
    if not reranker.ranks or not len(head):
        return None, ()
    stored = await texts.of(head)
    try:
        relevance = await reranker.score(
            case.request.tenant, asked, [text.text if text else "" for text in stored]
        )
    except DependencyUnavailable as down:
        return None, (down.part,)
    return np.array(relevance.scores, dtype=np.float64), ()


def _must_rows(case: Case, pool: Pool) -> list[int]:
    """What stands in the prompt already needs no taking."""
    if not case.request.must_take:
        return []
    rows = {pool.key(row): row for row in range(len(pool))}
    keys = case.history.address_keys
    found = [rows.get((int(keys[ref.position]), ref.unit, ref.part)) for ref in case.request.must_take]
    return [row for row in dict.fromkeys(found) if row is not None and not pool.inside[row]]


def _beside(case: Case, pool: Pool, taken: list[Taken], cost: Ints) -> list[Taken]:
    """Neighbours of the taken, as many as the rest of the budget holds whole."""
    left = case.request.budget - sum(t.tokens for t in taken)
    beside: list[Taken] = []
    for row in neighbours([t.row for t in taken], pool.unit_index, pool.part):
        size = int(cost[row])
        if size <= left and not pool.inside[row] and pool.position[row] != case.asking:
            beside.append(Taken(row, size))
            left -= size
    return beside
