import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from shared.errors import DependencyUnavailable, PermanentFault
from shared.store import edge
from shared.store.edge import EdgeStore
from shared.store.port import Coverage, IndexedMessage, Origin, Search
from shared.text.terms import Terms, document_terms
from tests.support.indexed import DIM, indexed, key_of, unit_vector

ORIGIN = Origin("t", "first", 1000.0)

WRITES_AND_HANGS = """
import asyncio, sys, time
from pathlib import Path
from shared.store.edge import EdgeStore
from tests.unit.shared.store.test_edge import ORIGIN, message
from tests.support.indexed import DIM

async def main():
    store = EdgeStore(Path(sys.argv[1]), "chunks", DIM)
    await store.ensure()
    await store.insert_terms(ORIGIN, [message(n) for n in range(300)])
    await store.put_vectors(ORIGIN, [message(n) for n in range(100)])
    print("acknowledged", flush=True)
    time.sleep(60)

asyncio.run(main())
"""


def message(n: int) -> IndexedMessage:
    return indexed(f"m{n}", [f"amber {n}"], [unit_vector(n)])


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EdgeStore]:
    store = EdgeStore(tmp_path, "chunks", DIM)
    await store.ensure()
    yield store
    await store.close()


async def test_acknowledged_writes_survive_a_killed_process(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITES_AND_HANGS, str(tmp_path), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"acknowledged\n"
    process.kill()
    await process.wait()
    store = EdgeStore(tmp_path, "chunks", DIM)
    await store.ensure()
    keys = [key_of(message(n)) for n in range(300)]
    assert await store.missing("t", keys) == set()
    assert await store.coverage("t", keys) == Coverage(300, 100)
    found = await store.search(Search("t", keys, document_terms("amber"), unit_vector(7), 1))
    assert found.by_vector[0].chunk.address == keys[7]
    assert len(found.by_terms) == 1
    await store.close()


async def test_flushes_now_and_then(store: EdgeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge, "FLUSH_EVERY", 10)
    await store.insert_terms(ORIGIN, [message(n) for n in range(20)])
    assert await store.missing("t", [key_of(message(n)) for n in range(20)]) == set()


async def test_reads_beside_writes(store: EdgeStore) -> None:
    """Searches run while updates do, and see a message whole or not at all."""
    messages = [indexed(f"m{n}", ["amber basin", "amber cedar"]) for n in range(400)]
    keys = [key_of(m) for m in messages]

    async def write() -> None:
        for start in range(0, 400, 20):
            await store.insert_terms(ORIGIN, messages[start : start + 20])

    writing = asyncio.create_task(write())
    searches = 0
    while not writing.done():
        there = set(keys) - await store.missing("t", keys)
        found = await store.search(Search("t", list(there), document_terms("amber"), None, 1000))
        assert len(found.by_terms) == 2 * len(there)
        searches += 1
    await writing
    assert searches > 1
    assert await store.coverage("t", keys) == Coverage(800, 0)


async def test_a_second_opening_is_refused(store: EdgeStore, tmp_path: Path) -> None:
    with pytest.raises(PermanentFault, match="open already"):
        await EdgeStore(tmp_path, "chunks", DIM).ensure()


async def test_a_store_that_is_not_open_can_be_tried_again(tmp_path: Path) -> None:
    store = EdgeStore(tmp_path, "chunks", DIM)
    with pytest.raises(DependencyUnavailable) as e:
        await store.missing("t", [1])
    assert e.value.part == "retriever_unavailable"
    await store.close()


async def test_a_failing_shard_can_be_tried_again(store: EdgeStore) -> None:
    assert store._shard is not None
    store._shard.close()
    with pytest.raises(DependencyUnavailable, match="not initialized"):
        await store.missing("t", [1])
    store._shard = None


async def test_a_mistake_of_ours_is_not_retried(store: EdgeStore) -> None:
    too_large = replace(indexed("a", ["amber"]), terms=(Terms((2**32,), (1.0,)),))
    with pytest.raises(OverflowError):
        await store.insert_terms(ORIGIN, [too_large])
