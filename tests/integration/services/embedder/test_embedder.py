"""The embedder on a real nats-server."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from services.embedder.bootstrap import start
from services.embedder.embed import KNOWN_GOOD
from shared.bus import Bus, connect
from shared.bus.codec import decode
from shared.contracts.events import ChunksCreated, DeadLetter
from shared.errors import DependencyUnavailable, PermanentFault
from shared.models.port import Vector
from shared.settings import Settings
from shared.store.port import Coverage
from tests.support.chunks import numbered
from tests.support.hashing import HashingEmbedder
from tests.support.memory_store import MemoryStore


def created(first: int, count: int, *more: str) -> ChunksCreated:
    messages = (numbered(n, f"text {n}", *more) for n in range(first, first + count))
    return ChunksCreated(tenant="t", session="s", at=1.0, messages=tuple(messages))


async def until(holds: Callable[[], Awaitable[bool]], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while True:
            if await holds():
                return
            await asyncio.sleep(0.02)


class Switched(HashingEmbedder):
    """Refuses the text `bad`; answers nothing while it is `down`."""

    down = False

    async def passages(self, texts: Any) -> list[Vector]:
        if self.down:
            raise DependencyUnavailable("embed_unavailable", "down")
        if "bad" in texts:
            raise PermanentFault("refused")
        return await super().passages(texts)


async def test_two_replicas_share_the_work_and_a_replay_embeds_nothing(bus: Bus, nats_url: str) -> None:
    store, embedder = MemoryStore(), Switched()
    other = await connect(nats_url, service="other")
    for replica in (bus, other):
        await start(Settings(), replica, store, embedder)
    await bus.publish_many([created(n * 10, 10) for n in range(20)])

    async def all_there() -> bool:
        return await store.coverage("t", range(200)) == Coverage(200, 200)

    await until(all_there)
    assert sorted(embedder.embedded) == sorted(f"text {n}" for n in range(200))
    # Another event, so that it is no duplicate for the stream, with the same texts.
    await bus.publish(created(0, 200))

    async def settled() -> bool:
        info = await bus.js.consumer_info("CHUNKS", "vectors")
        return info.num_pending == 0 and info.num_ack_pending == 0

    await until(settled)
    assert len(embedder.embedded) == 200
    await other.close()


async def test_while_the_server_is_down_terms_serve_and_nothing_is_given_up(bus: Bus) -> None:
    store, embedder = MemoryStore(), Switched()
    embedder.down = True
    await start(Settings(), bus, store, embedder)
    await bus.publish_many([created(n * 10, 10) for n in range(5)])

    async def terms_there() -> bool:
        return await store.missing("t", range(50)) == set()

    await until(terms_there)
    assert (await store.coverage("t", range(50))).with_vector == 0
    embedder.down = False

    async def all_there() -> bool:
        return (await store.coverage("t", range(50))).with_vector == 50

    await until(all_there)
    assert (await bus.js.stream_info("DEADLETTERS")).state.messages == 0


async def test_a_bad_chunk_is_a_dead_letter_with_its_reason(bus: Bus) -> None:
    store, embedder = MemoryStore(), Switched()
    letters = await bus.js.subscribe("dl.v1.>", ordered_consumer=True)
    await start(Settings(), bus, store, embedder)
    await bus.publish(ChunksCreated(tenant="t", session="s", at=1, messages=(numbered(1, "good", "bad"),)))
    raw = await letters.next_msg(timeout=20)

    async def good_there() -> bool:
        return await store.coverage("t", [1]) == Coverage(2, 1)

    await until(good_there)
    letter = decode(DeadLetter, raw.data)
    assert (letter.service, letter.reason) == ("test", "refused")
    assert orjson.loads(letter.item)["text"] == "bad"
    assert [text for text in embedder.embedded if text != KNOWN_GOOD] == ["good"]


async def test_a_stop_does_not_wait_for_all_that_was_fetched(nats_url: str, bus: Bus) -> None:
    class Slow(HashingEmbedder):
        async def passages(self, texts: Any) -> list[Vector]:
            await asyncio.sleep(0.1)
            return await super().passages(texts)

    store, slow = MemoryStore(), Slow()
    stopped = await connect(nats_url, service="stopped")
    await start(Settings(), stopped, store, slow)
    await bus.publish(created(0, 2000))

    async def begun() -> bool:
        return bool(slow.embedded)

    await until(begun)
    began = time.monotonic()
    await stopped.close()
    assert time.monotonic() - began < 3
    left = 2000 - len(slow.embedded)
    assert left > 1000
    embedder = HashingEmbedder()
    await start(Settings(), bus, store, embedder)

    async def all_there() -> bool:
        return await store.coverage("t", range(2000)) == Coverage(2000, 2000)

    await until(all_there)
    assert len(embedder.embedded) <= left + 64
