"""The calls to the store that find candidates."""

from dataclasses import dataclass

import numpy as np

from services.retriever.hop import SAMPLE, rare_terms
from services.retriever.inside import Inside
from services.retriever.lift import lifted
from services.retriever.locate import Floats, Ints, Occurrences, Pool, locate
from services.retriever.profiles import Profile
from services.retriever.rank import rank
from services.retriever.smooth import lent
from shared.contracts.rpc import Retrieve
from shared.conversation.history import History
from shared.store.port import ChunkStore, Found, Search, Vector
from shared.text.terms import query_terms

LIMIT = 1000
CHECK_LIMIT = 300
"""For the drift check, which looks at the best of both sides only; reading a hit costs some 10 µs."""
"""Hits a search. Qdrant Edge, 8,236 addresses, terms and vector: 1,000 in 46 ms, 2,000 in 255 ms. What
smoothing lifts is read besides."""


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


async def find(store: ChunkStore, case: Case, vector: Vector | None) -> Found:
    """Terms and vector in one batch; the second hop searches once more by terms."""
    addresses = np.unique(case.history.address_keys).tolist()
    limit = LIMIT if case.choosing else CHECK_LIMIT
    search = Search(case.request.tenant, addresses, query_terms(list(case.weights.items())), vector, limit)
    found = await store.search(search)
    if not case.choosing or not case.profile.hop_weight or not found.by_terms:
        return found
    asking = int(case.history.address_keys[case.asking])
    best = [hit.chunk[:3] for hit in found.by_terms if hit.chunk.address != asking][:SAMPLE]
    stored = await store.texts(case.request.tenant, best)
    texts = [text.text for text in stored if text is not None]
    hop = rare_terms(texts, case.weights, case.profile.hop_weight)
    if not hop:
        return found
    wider = Search(
        case.request.tenant, addresses, query_terms([*case.weights.items(), *hop.items()]), None, limit
    )
    return Found((await store.search(wider)).by_terms, found.by_vector)


async def gather(store: ChunkStore, case: Case, found: Found) -> tuple[Pool, Floats | None]:
    """The pool, and what neighbours lend over the unit sequence (None where the profile does not smooth).

    Chunks that no search found join the pool where their neighbours lift them, where the profile takes
    neighbours along, and where they must be taken.
    """
    history = case.history
    pool = locate(history, case.occurrences, case.inside, found)
    lifting = None
    more = np.array([ref.position for ref in case.request.must_take], dtype=np.int64)
    if case.profile.smooth:
        units = case.occurrences.spread(pool, pool.terms)
        units[history.unit_offsets[case.asking] :] = 0.0
        lifting = lent(units)
        if case.choosing:
            more = np.concatenate((more, _lifted(case, units + lifting, pool)))
    if case.profile.expand_ratio and case.choosing:
        hits = pool.position[rank(case.profile, pool, lifting, case.asking).candidates]
        beside = np.unique(np.concatenate((hits - 1, hits, hits + 1)))
        more = np.concatenate((more, beside[(beside >= 0) & (beside < case.asking)]))
    if not len(more):
        return pool, lifting
    keys = np.unique(history.address_keys[more]).tolist()
    chunks = await store.chunks(case.request.tenant, keys)
    return locate(history, case.occurrences, case.inside, found, chunks), lifting


def _lifted(case: Case, scores: Floats, pool: Pool) -> Ints:
    outside = ~case.inside.positions
    outside[case.asking] = False
    floor, budget = case.profile.token_floor, case.request.budget
    return lifted(case.history, scores, pool.unit_index, outside, floor, budget)
