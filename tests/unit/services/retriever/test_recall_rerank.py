"""The reranker orders the head; without it the fused order serves."""

import pytest

from shared.errors import DependencyUnavailable
from tests.unit.services.retriever.recalled import TALK, recall, stored
from tests.unit.services.retriever.support import FakeReranker


async def test_a_cross_encoder_orders_the_head() -> None:
    reranker = FakeReranker(answers=("chairs",))
    found = await recall(await stored(), reranker=reranker).retrieve(TALK.ask(budget=70))
    asked, _ = reranker.seen[0]
    assert asked == TALK.messages[-1][1]
    chairs = next(c for c in (*found.chosen, *found.dropped) if c.position == 23)
    assert chairs.rerank == 0.9
    assert chairs.score > chairs.fused


async def test_the_light_scorer_is_not_asked_to_rank() -> None:
    reranker = FakeReranker(ranks=False)
    found = await recall(await stored(), reranker=reranker).retrieve(TALK.ask())
    assert reranker.seen == []
    assert found.degraded == ()


@pytest.mark.parametrize("profile", ["conversation", "seed"])
async def test_with_the_reranker_down_the_fused_order_serves(profile: str) -> None:
    down = FakeReranker(fails=DependencyUnavailable("rerank_unavailable", "down"))
    store = await stored()
    found = await recall(store, reranker=down, profile=profile).retrieve(TALK.ask(budget=150))
    assert found.degraded == ("rerank_unavailable",)
    assert 0 in [c.position for c in found.chosen]


async def test_the_references_fallback_is_newest_first_in_its_own_profile_only() -> None:
    down = FakeReranker(fails=DependencyUnavailable("rerank_unavailable", "down"))
    store, request = await stored(), TALK.ask(budget=150)
    seed = recall(store, reranker=down, profile="seed", rerank_fallback="zero")
    positions = [c.position for c in (await seed.retrieve(request)).chosen]
    assert positions[0] == 22
    assert 0 not in positions
    zero = recall(store, reranker=down, rerank_fallback="zero")
    fused = recall(store, reranker=down, rerank_fallback="fused")
    assert await zero.retrieve(request) == await fused.retrieve(request)
