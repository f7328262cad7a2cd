"""Texts that nobody publishes any more."""

import asyncio
import contextlib

from services.embedder.retention import expire_by_age
from shared.store.port import Origin
from shared.telemetry import EXPIRED_CHUNKS
from tests.support.eventually import eventually
from tests.support.indexed import indexed, key_of
from tests.support.memory_store import MemoryStore


async def test_it_looks_again_and_again_whatever_fails() -> None:
    store, now = MemoryStore(), [100.0]
    old, new = indexed("old", ["amber", "basin"]), indexed("new", ["cedar"])
    await store.insert_terms(Origin("t", "s", 10.0), [old])
    await store.insert_terms(Origin("t", "s", 90.0), [new])
    before = EXPIRED_CHUNKS._value.get()
    store.down = True
    task = asyncio.create_task(expire_by_age(store, 50.0, lambda: now[0], every_s=0.01))
    try:
        await eventually(lambda: store.calls["expire"] > 1)
        store.down = False
        await eventually(lambda: store.calls["compact"] > 0)
        assert await store.missing("t", [key_of(old), key_of(new)]) == {key_of(old)}
        now[0] = 200.0
        await eventually(lambda: not store.markers)
        assert EXPIRED_CHUNKS._value.get() == before + 3
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
