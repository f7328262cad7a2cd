"""Scores chunks of a request against its question, for the drift check."""

from services.retriever.queries import both_ends
from shared.contracts.rpc import Rerank, Reranked
from shared.conversation.address import text_digest
from shared.conversation.history import History
from shared.errors import DependencyUnavailable
from shared.models.port import Reranker
from shared.store.port import ChunkStore


async def rerank(request: Rerank, store: ChunkStore, reranker: Reranker) -> Reranked:
    """Texts come from the store by reference. One that is not there any more answers nothing: 0."""
    keys = History.unpack(request.history).address_keys
    wanted = [(int(keys[ref.position]), ref.unit, ref.part) for ref in request.chunks]
    stored = await store.texts(request.tenant, wanted)
    query = text_digest(request.query)
    same = tuple(found is not None and text_digest(found.text) == query for found in stored)
    present = [row for row, found in enumerate(stored) if found is not None and found.text]
    texts = [found.text[: request.chars] for found in stored if found is not None and found.text]
    scores = [0.0] * len(stored)
    if not texts:
        return Reranked(scores=tuple(scores), same_text=same)
    try:
        relevance = await reranker.score(request.tenant, both_ends(request.query, request.chars), texts)
    except DependencyUnavailable as down:
        return Reranked(same_text=same, degraded=(down.part,))
    for row, score in zip(present, relevance.scores, strict=True):
        scores[row] = score
    return Reranked(scores=tuple(scores), threshold=relevance.threshold, same_text=same)
