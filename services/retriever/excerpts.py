"""Chosen chunks as places in the request."""

import math

from services.retriever.fill import Taken
from services.retriever.locate import Pool
from services.retriever.rank import Ranking, Scores
from services.retriever.search import Case
from services.retriever.texts import Texts
from shared.contracts.rpc import Candidate
from shared.conversation.address import text_digest
from shared.prompt.plan import LABEL_TOKENS
from shared.text.cut import sentence_window


def candidate(pool: Pool, ranking: Ranking, scores: Scores, row: int, why: str) -> Candidate:
    """The whole chunk."""
    chunk = pool.chunks[row]
    dense = float(pool.dense[row])
    return Candidate(
        *pool.ref(row),
        start=chunk.start,
        end=chunk.end,
        digest=chunk.digest,
        tokens=chunk.tokens,
        terms=float(ranking.terms[row]),
        dense=0.0 if math.isnan(dense) else dense,
        fused=float(ranking.fused[row]),
        rerank=float(scores.rerank[row]),
        score=float(scores.score[row]),
        why=why,
        recency=float(scores.recency[row]),
        role=float(scores.role[row]),
    )


async def cut_to_fit(case: Case, whole: Candidate, taken: Taken, texts: Texts) -> Candidate | None:
    """The sentences around the query's terms, as many as the allowance holds.

    None where nothing fits, where the text is gone, or where the prompt holds just that range already.
    """
    (stored,) = await texts.of([taken.row])
    allowed = taken.tokens - LABEL_TOKENS
    if stored is None or allowed <= 0:
        return None
    chars = len(stored.text) * allowed // whole.tokens
    start, end = sentence_window(stored.text, case.weights.keys(), chars)
    if start == end:
        return None
    part = _narrowed(whole, stored.text, start, end)
    address = int(case.history.address_keys[whole.position])
    held = case.inside.covers(address, whole.unit, part.start, part.end)
    return None if held else part


def _narrowed(whole: Candidate, text: str, start: int, end: int) -> Candidate:
    """`start` and `end` are code points in the chunk's text; tokens shrink with the range, rounded up."""
    return whole._replace(
        start=whole.start + start,
        end=whole.start + end,
        digest=text_digest(text[start:end]),
        tokens=math.ceil(whole.tokens * (end - start) / len(text)),
    )
