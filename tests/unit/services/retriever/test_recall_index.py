"""What is indexed so far, with vectors or without, and what serves while a part is away."""

import asyncio

import numpy as np
import pytest

from shared.errors import DependencyUnavailable, PermanentFault
from shared.store.port import Origin
from tests.support.memory_store import MemoryStore
from tests.unit.services.retriever.recalled import TALK, recall, stored
from tests.unit.services.retriever.support import TENANT, FakeEmbedder


async def test_missing_positions_are_named_where_the_caller_waits() -> None:
    store = MemoryStore()
    await TALK.store_in(store, [0, 1, 2, 5])
    found = await recall(store).retrieve(TALK.ask(window=6, check_from=1, wait_for_index=True))
    assert (found.missing, found.indexed_to, found.chosen) == ((3, 4), 3, ())
    assert store.calls["search"] == 0
    found = await recall(store).retrieve(TALK.ask(window=6, check_from=1))
    assert (found.missing, found.indexed_to, found.degraded) == ((), 3, ("index_incomplete",))
    assert found.chosen


async def test_what_an_earlier_store_held_is_not_believed_of_a_new_one() -> None:
    store = MemoryStore(made="anew")
    await TALK.store_in(store, [3, 4, 5])
    asked = TALK.ask(window=6, check_from=3, covered_to=3, wait_for_index=True)
    found = await recall(store).retrieve(asked)
    assert (found.missing, found.index, found.covered_to) == ((0, 1, 2), "anew", 0)


async def with_vectors(share: float) -> MemoryStore:
    """Vectors for the first share of the messages; the garden party resembles every question."""
    store = await stored()
    count = len(TALK.messages) - 1
    party = np.array([1, 1, 1, 1], dtype=np.float32) / 2
    other = np.array([1, -1, 1, -1], dtype=np.float32) / 2
    messages = [TALK.indexed(p, party if p == 22 else other) for p in range(count)]
    order = [22, *(p for p in range(count) if p != 22)]
    await store.put_vectors(Origin(TENANT, "s", 0.0), [messages[p] for p in order[: round(share * count)]])
    return store


async def test_vectors_join_once_they_cover_the_request() -> None:
    embedder = FakeEmbedder()
    few = await recall(await with_vectors(0.5), embedder).retrieve(TALK.ask())
    assert embedder.calls == 0
    assert {c.dense for c in few.chosen} == {0.0}
    assert (few.covered_to, few.degraded) == (0, ())

    most = await recall(await with_vectors(0.9), embedder).retrieve(TALK.ask())
    assert most.covered_to == 0
    assert {c.position: c.dense for c in most.chosen}[22] == pytest.approx(1.0)

    everything = await recall(await with_vectors(1.0), embedder).retrieve(TALK.ask())
    assert everything.covered_to == len(TALK.messages) - 1
    known = await recall(await with_vectors(1.0)).retrieve(TALK.ask(covered_to=len(TALK.messages) - 1))
    assert known.chosen == everything.chosen


async def test_positions_known_to_be_covered_count_as_covered() -> None:
    store = await with_vectors(0.5)
    found = await recall(store).retrieve(TALK.ask(covered_to=20))
    assert any(c.dense for c in found.chosen)


@pytest.mark.parametrize(
    "fault", [DependencyUnavailable("embed_unavailable", "down"), PermanentFault("refused"), TimeoutError()]
)
async def test_without_a_query_vector_terms_serve_alone(fault: Exception) -> None:
    found = await recall(await with_vectors(1.0), FakeEmbedder(fails=fault)).retrieve(TALK.ask())
    assert found.degraded == ("embed_unavailable",)
    assert found.chosen[0].position == 0


async def test_a_slow_embedding_server_has_a_deadline() -> None:
    class Slow(FakeEmbedder):
        async def query(self, text: str) -> np.ndarray:
            await asyncio.sleep(30)
            raise AssertionError

    service = recall(await with_vectors(1.0), Slow(), query_embed_timeout_s=0.01)
    assert (await service.retrieve(TALK.ask())).degraded == ("embed_unavailable",)


async def test_a_query_is_embedded_once_a_tenant() -> None:
    embedder = FakeEmbedder()
    service = recall(await with_vectors(1.0), embedder)
    await service.retrieve(TALK.ask())
    await service.retrieve(TALK.ask())
    assert embedder.calls == 1


async def test_the_store_being_down_is_the_callers_to_handle() -> None:
    store = await stored()
    store.down = True
    with pytest.raises(DependencyUnavailable) as caught:
        await recall(store).retrieve(TALK.ask())
    assert caught.value.part == "retriever_unavailable"
