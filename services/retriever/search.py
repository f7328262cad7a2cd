"""The calls to the store that find candidates."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.retriever.fuse import to_best
from services.retriever.hop import BACKGROUND, BEST, SAMPLE, TELLING, telling_terms
from services.retriever.inside import Inside
from services.retriever.lift import lifted
from services.retriever.locate import Floats, Ints, Occurrences, Pool, locate
from services.retriever.profiles import Profile
from services.retriever.rank import rank, standing_out
from services.retriever.smooth import Lent, lent
from shared.contracts.rpc import Retrieve
from shared.conversation.history import History
from shared.store.port import ChunkStore, Found, Hit, Search, Vector
from shared.text.terms import query_terms

LIMIT = 1000
"""Hits a search, for small budgets; what smoothing lifts is read besides."""
MOST_HITS = 4000
HIT_TOKENS = 128
"""Of the budget for each hit: with 1,000 hits BEAM 1M at 256K has .784, with all .841. Qdrant Edge, 2,891
chunks, terms and vector: 1,000 in 10 ms, all in 18."""
PARTED = 192
"""Engine tokens of a unit that may have parts which no search found."""
CHECK_LIMIT = 300
"""For the drift check, which looks at the best of both sides only; reading a hit costs some 10 µs."""


@dataclass(frozen=True)
class Case:
    """One request, as every step needs it."""

    request: Retrieve
    history: History
    profile: Profile
    inside: Inside
    occurrences: Occurrences
    weights: dict[str, float]
    """Tokens to search with."""

    @property
    def asking(self) -> int:
        """Position of the message that asks."""
        return len(self.history) - 1

    @property
    def choosing(self) -> bool:
        return self.request.budget > 0


@dataclass(frozen=True)
class Hits:
    found: Found
    hop: Sequence[Hit] | None
    """By the query's terms and those of the second hop; None where the profile makes none."""

    @property
    def chunks(self) -> int:
        """How many chunks matched at all."""
        return len({h.chunk[:3] for h in (*self.found.by_terms, *self.found.by_vector, *(self.hop or ()))})


async def find(store: ChunkStore, case: Case, vector: Vector | None) -> Hits:
    """Terms and vector in one batch; the second hop searches once more by terms.

    The message that asks is left out: where it was asked before, it is stored, and would make its own words
    less rare.
    """
    addresses = np.unique(case.history.address_keys[: case.asking]).tolist()
    if not addresses:
        return Hits(Found(), None)
    limit = CHECK_LIMIT
    if case.choosing:
        limit = min(max(LIMIT, case.request.budget // HIT_TOKENS), MOST_HITS)
    search = Search(case.request.tenant, addresses, query_terms(list(case.weights.items())), vector, limit)
    found = await store.search(search)
    if not case.choosing or not case.profile.hop_share or not found.by_terms:
        return Hits(found, None)
    hop = await _hop(store, case, found)
    terms = query_terms([*case.weights.items(), *hop.items()])
    wider = Search(case.request.tenant, addresses, terms, None, limit)
    return Hits(found, (await store.search(wider)).by_terms)


async def _hop(store: ChunkStore, case: Case, found: Found) -> dict[str, float]:
    keys = case.history.address_keys
    asking = int(keys[case.asking])
    hits = [hit for hit in found.by_terms if hit.chunk.address != asking][:SAMPLE]
    if not hits:
        return {}
    spread = np.unique(np.linspace(0, case.asking, BACKGROUND, endpoint=False, dtype=np.int64))
    wanted = [*(hit.chunk[:3] for hit in hits), *((int(keys[p]), 0, 0) for p in spread)]
    stored = await store.texts(case.request.tenant, wanted)
    texts = ["" if text is None else text.text for text in stored]
    first = sum(hit.score >= TELLING * hits[0].score for hit in hits[:BEST])
    return telling_terms(texts[:first], texts[first:], case.weights, case.profile.hop_weight)


async def gather(store: ChunkStore, case: Case, hits: Hits) -> tuple[Pool, Lent | None]:
    """The pool, and what neighbours lend over the unit sequence (None where the profile does not smooth).

    Chunks that no search found join the pool where their neighbours lift them, where the profile takes
    neighbours along, and where they must be taken.
    """
    history = case.history
    pool = locate(history, case.occurrences, case.inside, hits.found, hits.hop)
    lifting = None
    more = np.array([ref.position for ref in case.request.must_take], dtype=np.int64)
    if case.profile.smooth:
        alike = standing_out(pool, case.asking, int(history.unit_offsets[-1]))
        terms, dense = _units(case, pool, pool.terms), _units(case, pool, alike)
        lifting = Lent(lent(terms), lent(dense))
        if case.choosing:
            weight = case.profile.dense_weight * case.profile.dense_smooth
            scores = to_best(terms + lifting.terms) + weight * to_best(dense + lifting.dense)
            more = np.concatenate((more, _lifted(case, scores, pool)))
    if case.profile.expand_ratio and case.choosing:
        hit = pool.position[rank(case.profile, pool, lifting, case.asking).candidates]
        beside = np.unique(np.concatenate((hit - 1, hit, hit + 1)))
        more = np.concatenate((more, beside[(beside >= 0) & (beside < case.asking)]))
    if not len(more):
        return pool, lifting
    keys = np.unique(history.address_keys[more]).tolist()
    chunks = await store.chunks(case.request.tenant, keys)
    return locate(history, case.occurrences, case.inside, hits.found, hits.hop, chunks), lifting


def _units(case: Case, pool: Pool, scores: Floats) -> Floats:
    units = case.occurrences.spread(pool, scores)
    units[case.history.unit_offsets[case.asking] :] = 0.0
    return units


def _lifted(case: Case, scores: Floats, pool: Pool) -> Ints:
    outside = ~case.inside.positions
    outside[case.asking] = False
    floor, budget = case.profile.token_floor, case.request.budget
    known = pool.unit_index
    if case.profile.whole_units:
        known = known[pool.unit_tokens <= PARTED]
    return lifted(case.history, scores, known, outside, floor, budget)
