import pytest

from services.retriever.rerank import rerank
from shared.contracts.rpc import ChunkRef, Rerank
from shared.errors import DependencyUnavailable
from tests.support.memory_store import MemoryStore
from tests.unit.services.retriever.support import TENANT, FakeReranker, Talk

TALK = Talk([("user", "The port is 7391. And more."), ("user", "Which port?"), ("user", "Which port?")])


def request(*refs: ChunkRef, chars: int = 600, query: str = "Which port?") -> Rerank:
    return Rerank(tenant=TENANT, history=TALK.history.pack(), query=query, chunks=refs, chars=chars)


async def store() -> MemoryStore:
    filled = MemoryStore()
    await TALK.store_in(filled)
    return filled


async def test_scores_by_reference_and_finds_the_question_itself() -> None:
    scorer = FakeReranker(answers=("7391",))
    reply = await rerank(request(ChunkRef(1, 0, 0), ChunkRef(0, 0, 0)), await store(), scorer)
    assert reply.scores == (0.01, 0.9)
    assert reply.same_text == (True, False)
    assert reply.threshold == 0.4
    assert reply.degraded == ()


async def test_text_and_query_are_cut() -> None:
    scorer = FakeReranker()
    await rerank(request(ChunkRef(0, 0, 0), chars=17, query="a" * 30), await store(), scorer)
    assert scorer.seen == [("a" * 17, ("The port is 7391.",))]


async def test_a_text_that_is_gone_answers_nothing() -> None:
    scorer = FakeReranker(answers=("7391",))
    reply = await rerank(request(ChunkRef(0, 0, 7), ChunkRef(0, 0, 0)), await store(), scorer)
    assert (reply.scores, reply.same_text) == ((0.0, 0.9), (False, False))


async def test_nothing_to_score_asks_nobody() -> None:
    scorer = FakeReranker(fails=AssertionError("asked"))
    assert (await rerank(request(ChunkRef(0, 0, 7)), await store(), scorer)).scores == (0.0,)
    assert (await rerank(request(), await store(), scorer)).scores == ()


async def test_a_reranker_that_is_down_degrades() -> None:
    scorer = FakeReranker(fails=DependencyUnavailable("rerank_unavailable", "down"))
    reply = await rerank(request(ChunkRef(1, 0, 0)), await store(), scorer)
    assert reply.scores == ()
    assert reply.same_text == (True,)
    assert reply.degraded == ("rerank_unavailable",)


async def test_a_store_that_is_down_is_the_callers_to_handle() -> None:
    filled = await store()
    filled.down = True
    with pytest.raises(DependencyUnavailable):
        await rerank(request(ChunkRef(1, 0, 0)), filled, FakeReranker())
