"""Recall over one request: what of its older history belongs beside its question."""

from services.retriever.choice import choose_chunks, rerank_head
from services.retriever.inside import read_inside
from services.retriever.locate import Occurrences, Pool
from services.retriever.profiles import choose
from services.retriever.queries import question, search_weights
from services.retriever.rank import Ranking, rank
from services.retriever.readiness import covered, indexed
from services.retriever.search import Case, find, gather
from services.retriever.texts import Texts
from services.retriever.vectors import QueryVectors
from shared.contracts.rpc import Candidate, ChunkRef, Retrieve, Retrieved
from shared.conversation.history import History
from shared.models.port import Embedder, Reranker, Vector
from shared.overrides import overridden
from shared.settings import Settings
from shared.store.port import ChunkStore
from shared.telemetry import INDEX_COVERAGE
from shared.tokens.estimate import Coefficients

BEST_OUTSIDE = 8
"""Candidates that the drift check compares with what is inside."""
VECTORS_PER_SESSION = 4


class Recall:
    def __init__(self, settings: Settings, store: ChunkStore, embedder: Embedder, reranker: Reranker) -> None:
        self._settings = settings
        self._store = store
        self._reranker = reranker
        self._coefficients = Coefficients(
            settings.tok_per_char_cjk, settings.tok_per_char_digit, settings.tok_per_char_other
        )
        self._vectors = QueryVectors(
            embedder, settings.query_embed_timeout_s, VECTORS_PER_SESSION * settings.max_sessions
        )

    async def retrieve(self, request: Retrieve) -> Retrieved:
        """Raises `DependencyUnavailable("retriever_unavailable", ...)` where the store is down.

        Models that are down only degrade the answer.
        """
        settings = overridden(self._settings, request.overrides)
        history = History.unpack(request.history)
        profile = choose(settings, history)
        if not len(history) or not request.search:
            return Retrieved(
                index=request.index,
                indexed_to=request.check_from,
                covered_to=request.covered_to,
                profile=profile.name,
            )
        index = await self._store.identity(request.tenant)
        # Of a store made anew nothing is known, whatever an older one was seen to hold.
        known = index == request.index
        check_from = request.check_from if known else 0
        covered_to = request.covered_to if known else 0
        ready = await indexed(self._store, request.tenant, history, check_from, request.check_to)
        if ready.missing and request.wait_for_index:
            return Retrieved(
                missing=ready.missing,
                index=index,
                indexed_to=ready.indexed_to,
                covered_to=covered_to,
                profile=profile.name,
            )
        degraded = ["index_incomplete"] if ready.missing else []
        vectors = await covered(self._store, request.tenant, history, covered_to, request.check_to, ready)
        INDEX_COVERAGE.observe(vectors.share)
        asked = question(request.search, request.query_tokens, self._coefficients)
        vector: Vector | None = None
        if vectors.share >= settings.dense_from:
            vector = await self._vectors.get(request.tenant, asked)
            if vector is None:
                degraded.append("embed_unavailable")
        case = Case(
            request=request,
            history=history,
            profile=profile,
            inside=read_inside(history, request.inside, request.inside_excerpts),
            occurrences=Occurrences(history),
            weights=search_weights(request.search, request.query_tokens, profile.context_share),
        )
        hits = await find(self._store, case, vector)
        pool, lifting = await gather(self._store, case, hits)
        ranking = rank(profile, pool, lifting, case.asking)
        chosen: tuple[Candidate, ...] = ()
        dropped: tuple[Candidate, ...] = ()
        if case.choosing:
            texts = Texts(self._store, request.tenant, pool)
            reranked, failed = await rerank_head(self._reranker, asked, case, ranking, texts)
            degraded += failed
            fallback = settings.rerank_fallback
            chosen, dropped = await choose_chunks(case, pool, ranking, texts, reranked, fallback)
        return Retrieved(
            chosen=chosen,
            dropped=dropped,
            best_inside=_refs(pool, ranking, inside=True, most=settings.block_check_docs),
            best_outside=_refs(pool, ranking, inside=False, most=BEST_OUTSIDE),
            index=index,
            indexed_to=ready.indexed_to,
            covered_to=vectors.covered_to,
            found=hits.chunks,
            profile=profile.name,
            degraded=tuple(degraded),
        )


def _refs(pool: Pool, ranking: Ranking, *, inside: bool, most: int) -> tuple[ChunkRef, ...]:
    rows = ranking.inside if inside else ranking.candidates
    return tuple(pool.ref(row) for row in rows[:most])
