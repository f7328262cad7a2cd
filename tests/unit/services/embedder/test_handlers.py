import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.embedder.embed import KNOWN_GOOD
from services.embedder.handlers import TERMS_QUIET_S, Handlers
from shared.bus import Delivery
from shared.contracts.events import Chunk, ChunksCreated
from shared.conversation.address import address_key, text_digest
from shared.errors import DependencyUnavailable, PermanentFault
from shared.models.port import Vector
from shared.store.port import IndexedMessage, Origin
from tests.support.chunks import numbered
from tests.support.hashing import HashingEmbedder, hashed
from tests.support.memory_store import MemoryStore
from tests.unit.services.embedder.deliveries import delivery

BAD = "unembeddable"


class Unsteady(HashingEmbedder):
    """Down whenever the script says so; refuses `BAD`."""

    def __init__(self, up: Sequence[bool] = ()) -> None:
        super().__init__()
        self.up = list(up)

    async def passages(self, texts: Any) -> list[Vector]:
        if self.up and not self.up.pop(0):
            raise DependencyUnavailable("embed_unavailable", "down")
        if BAD in texts:
            raise PermanentFault("refused")
        return await super().passages(texts)


class UnsteadyStore(MemoryStore):
    def __init__(self, up: Sequence[bool] = ()) -> None:
        super().__init__()
        self.up = list(up)

    def _called(self, name: str) -> None:
        super()._called(name)
        if self.up and not self.up.pop(0):
            raise DependencyUnavailable("retriever_unavailable", "down")


def handlers(store: MemoryStore, embedder: HashingEmbedder) -> Handlers:
    return Handlers(store, embedder, lambda: False)


async def vector(store: MemoryStore, number: int, part: int = 0, tenant: str = "t") -> Vector | None:
    (found,) = await store.texts(tenant, [(number, 0, part)])
    assert found is not None
    return found.vector


def key(number: int) -> int:
    return address_key(number.to_bytes(16, "big"))


async def test_terms_are_there_without_the_embedder() -> None:
    store, embedder = MemoryStore(), Unsteady([False] * 100)
    await handlers(store, embedder).terms([delivery(numbered(1, "red fox", "blue whale"), numbered(2))])
    assert await store.missing("t", [1, 2, 3]) == {3}
    assert (await store.coverage("t", [1, 2])) == (2, 0)
    assert len(embedder.up) == 100


@pytest.mark.parametrize("order", [("terms", "vectors"), ("vectors", "terms")])
async def test_either_order_ends_the_same(order: tuple[str, str]) -> None:
    store = MemoryStore()
    both = handlers(store, HashingEmbedder())
    batch = [delivery(numbered(1, "red fox", "blue whale"), numbered(2))]
    for name in order:
        await getattr(both, name)(batch)
    assert await store.missing("t", [1, 2]) == set()
    assert (await store.coverage("t", [1, 2])) == (2, 2)
    assert np.array_equal(await vector(store, 1, 1), hashed("blue whale"))


async def test_a_redelivery_embeds_nothing() -> None:
    store, embedder = MemoryStore(), HashingEmbedder()
    batch = [delivery(numbered(1, "a", "b", "a")), delivery(numbered(2, "b"), sequence=2)]
    for _ in range(3):
        assert await handlers(store, embedder).vectors(batch) == []
    assert sorted(embedder.embedded) == ["a", "b"]


async def test_small_events_share_a_call() -> None:
    calls: list[int] = []

    class Counting(HashingEmbedder):
        async def passages(self, texts: Any) -> list[Vector]:
            calls.append(len(texts))
            return await super().passages(texts)

    batch = [delivery(numbered(n, f"text {n}"), sequence=n, session=f"s{n}") for n in range(1, 5)]
    await handlers(MemoryStore(), Counting()).vectors(batch)
    assert calls == [4]


async def test_every_message_keeps_the_origin_of_its_event() -> None:
    origins: list[tuple[Origin, list[str]]] = []

    class Watched(MemoryStore):
        async def put_vectors(self, origin: Origin, messages: Sequence[IndexedMessage]) -> None:
            origins.append((origin, [m.address[-1] for m in messages]))

    batch = [
        delivery(numbered(1, "a"), numbered(2, "b"), session="x", sequence=1),
        delivery(numbered(3, "c"), session="y", sequence=2),
        delivery(numbered(4, "d"), tenant="other", sequence=3),
    ]
    await handlers(Watched(), HashingEmbedder()).vectors(batch)
    assert origins == [
        (Origin("t", "x", 1.5), ["1", "2"]),
        (Origin("t", "y", 1.5), ["3"]),
        (Origin("other", "s", 1.5), ["4"]),
    ]


async def test_tenants_share_no_vectors() -> None:
    store, embedder = MemoryStore(), HashingEmbedder()
    both = handlers(store, embedder)
    await both.vectors([delivery(numbered(1, "a")), delivery(numbered(1, "a"), tenant="other", sequence=2)])
    assert embedder.embedded == ["a", "a"]


async def test_a_bad_chunk_keeps_its_terms_and_its_message_its_marker() -> None:
    store, embedder = MemoryStore(), Unsteady()
    both = handlers(store, embedder)
    first = delivery(numbered(1, "good", BAD), numbered(2, "fine"))
    second = delivery(numbered(3, BAD), sequence=2)
    await both.terms([first, second])
    faulty = await both.vectors([first, second])
    assert [(f.delivery.sequence, f.reason) for f in faulty] == [(1, "refused"), (2, "refused")]
    assert Chunk.model_validate_json(faulty[0].item) == first.event.messages[0].chunks[1]
    assert await store.missing("t", [1, 2, 3]) == set()
    assert await vector(store, 1, 1) is None
    assert np.array_equal(await vector(store, 1, 0), hashed("good"))
    assert [text for text in embedder.embedded if text != KNOWN_GOOD] == ["good", "fine"]


async def run_until_it_holds_no_more(both: Handlers, batch: list[Delivery[ChunksCreated]]) -> int:
    """As the bus does: the same deliveries again while a dependency is down."""
    faulty = None
    while faulty is None:
        try:
            faulty = await both.vectors(batch)
        except DependencyUnavailable:
            await asyncio.sleep(0)
    return len(faulty)


TEXTS = st.sampled_from([*(f"text {n}" for n in range(40)), BAD])
MESSAGES = st.lists(st.lists(TEXTS, max_size=30), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(
    events=st.lists(st.tuples(st.sampled_from(["t", "u"]), MESSAGES), min_size=1, max_size=5),
    order=st.randoms(use_true_random=False),
    embedder_up=st.lists(st.booleans(), max_size=40),
    store_up=st.lists(st.booleans(), max_size=40),
)
async def test_each_text_is_embedded_once_whatever_fails_and_is_delivered_again(
    events: list[tuple[str, list[list[str]]]], order: Any, embedder_up: list[bool], store_up: list[bool]
) -> None:
    number = 0
    deliveries = []
    for sequence, (tenant, texts) in enumerate(events, 1):
        messages = []
        for one in texts:
            number += 1
            messages.append(numbered(number, *one))
        deliveries.append(delivery(*messages, tenant=tenant, sequence=sequence))
    again = [*deliveries, *order.sample(deliveries, order.randint(0, len(deliveries)))]
    order.shuffle(again)
    store, embedder = UnsteadyStore(store_up), Unsteady(embedder_up)
    both = handlers(store, embedder)
    while again:
        size = order.randint(1, 3)
        batch = list({d.sequence: d for d in again[:size]}.values())
        again = again[size:]
        bad = sum(c.text == BAD for d in batch for m in d.event.messages for c in m.chunks)
        assert await run_until_it_holds_no_more(both, batch) == bad
    said = {(t, text) for t, texts in events for one in texts for text in one if text != BAD}
    embedded = Counter(text for text in embedder.embedded if text != KNOWN_GOOD)
    assert embedded == Counter(text for _, text in said)
    store.up.clear()
    for d in deliveries:
        tenant = d.event.tenant
        assert await store.missing(tenant, [key(int(m.address, 16)) for m in d.event.messages]) == set()
        for m in d.event.messages:
            for c in m.chunks:
                (found,) = await store.texts(tenant, [(int(m.address, 16), 0, c.part)])
                assert found is not None
                assert found.text == c.text
                assert (found.vector is None) == (c.text == BAD)
                if found.vector is not None:
                    assert np.array_equal(found.vector, hashed(c.text))
                assert c.digest == text_digest(c.text)


async def test_vectors_wait_while_terms_are_being_written() -> None:
    store, embedder = MemoryStore(), HashingEmbedder()
    both = handlers(store, embedder)
    await both.terms([delivery(numbered(1, "amber"))])
    making = asyncio.create_task(both.vectors([delivery(numbered(1, "amber"))]))
    await asyncio.sleep(TERMS_QUIET_S / 2)
    await both.terms([delivery(numbered(2, "basin"))])
    await asyncio.sleep(TERMS_QUIET_S * 0.8)
    assert embedder.embedded == []
    await making
    assert "amber" in embedder.embedded
