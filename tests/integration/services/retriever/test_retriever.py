"""The retriever on a real nats-server, over Qdrant Edge."""

from pathlib import Path

import pytest

from services.retriever.bootstrap import start
from shared.bus import RERANK, RETRIEVE, Bus
from shared.contracts.rpc import ChunkRef, Rerank
from shared.errors import DependencyUnavailable
from shared.settings import Settings
from shared.store.edge import EdgeStore
from shared.store.port import Origin
from tests.unit.services.retriever.support import TENANT, FakeEmbedder, FakeReranker, Talk

TALK = Talk(
    [
        ("user", "The staging server of project Falcon listens on port 7391."),
        ("assistant", "Noted, I will remember it."),
        *[("user", f"Let us talk about the weather in week {week}.") for week in range(20)],
        ("user", "Which port does the staging server of Falcon use?"),
    ]
)


async def test_recall_and_rerank_over_the_bus(bus: Bus, tmp_path: Path) -> None:
    store = EdgeStore(tmp_path, "chunks", 4)
    await store.ensure()
    await start(Settings(), bus, store, FakeEmbedder(), FakeReranker(answers=("7391",), ranks=False))
    count = len(TALK.messages) - 1
    waiting = await bus.call(RETRIEVE, TALK.ask(wait_for_index=True), timeout_s=10)
    assert waiting.missing == tuple(range(count))

    await store.insert_terms(Origin(TENANT, "s", 0.0), [TALK.indexed(p) for p in range(count)])
    found = await bus.call(RETRIEVE, TALK.ask(wait_for_index=True), timeout_s=10)
    assert found.best_outside[0] == ChunkRef(0, 0, 0)
    assert found.chosen[0].position == 0
    assert 1 in {c.position for c in found.chosen}

    request = Rerank(
        tenant=TENANT,
        history=TALK.history.pack(),
        query=TALK.messages[-1][1],
        chunks=found.best_outside[:2],
        chars=600,
    )
    assert (await bus.call(RERANK, request, timeout_s=10)).scores == (0.9, 0.01)

    await store.close()
    with pytest.raises(DependencyUnavailable) as caught:
        await bus.call(RETRIEVE, TALK.ask(), timeout_s=10)
    assert caught.value.part == "retriever_unavailable"
