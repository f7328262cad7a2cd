import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from shared.errors import DependencyUnavailable, PermanentFault
from shared.store import edge
from shared.store.edge import EdgeStore
from shared.store.mapping import chunk_points, marker_points
from shared.store.port import Coverage, Forgotten, IndexedMessage, Origin, Search
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


def on_disk(directory: Path, text: bytes) -> list[Path]:
    return [file for file in directory.rglob("*") if file.is_file() and text in file.read_bytes()]


async def test_compacting_takes_what_was_forgotten_off_the_disk(store: EdgeStore, tmp_path: Path) -> None:
    await store.put_vectors(ORIGIN, [indexed("gone", ["SECRETWORD amber"], [unit_vector(1)])])
    await store.put_vectors(replace(ORIGIN, session="other"), [message(n) for n in range(50)])
    await store.forget("t", "first", before=1)
    assert on_disk(tmp_path, b"SECRETWORD")
    await store.compact()
    assert on_disk(tmp_path, b"SECRETWORD") == []
    assert on_disk(tmp_path, b"amber 7")
    keys = [key_of(message(n)) for n in range(50)]
    assert await store.coverage("t", keys) == Coverage(50, 50)


async def test_searches_go_on_while_it_is_compacted(store: EdgeStore) -> None:
    messages = [message(n) for n in range(2000)]
    await store.put_vectors(ORIGIN, messages)
    keys = [key_of(m) for m in messages]
    compacting = asyncio.create_task(store.compact())
    late = asyncio.create_task(store.insert_terms(ORIGIN, [indexed("late", ["heath"])]))
    searches = 0
    while not compacting.done():
        found = await store.search(Search("t", keys, document_terms("amber"), unit_vector(7), 5))
        assert found.by_vector[0].chunk.address == keys[7]
        searches += 1
    await asyncio.gather(compacting, late)
    assert searches > 1
    assert await store.missing("t", [*keys, key_of(indexed("late"))]) == set()


async def test_a_process_that_ends_while_it_compacts_loses_nothing(store: EdgeStore, tmp_path: Path) -> None:
    await store.put_vectors(ORIGIN, [message(n) for n in range(20)])
    keys = [key_of(message(n)) for n in range(20)]
    directory = tmp_path / "chunks"
    assert store._shard is not None
    edge.rewrite(store._shard, edge._config(DIM), directory)
    await store.close()
    # Written, not in its place yet; and one that was not written to its end.
    (tmp_path / "chunks.new").mkdir()
    for _ in range(2):
        await store.ensure()
        assert await store.coverage("t", keys) == Coverage(20, 20)
        await store.close()
    assert os.listdir(tmp_path) == ["chunks"]
    (tmp_path / "chunks").rename(tmp_path / "chunks.complete")
    await store.ensure()
    assert await store.coverage("t", keys) == Coverage(20, 20)


async def test_a_write_that_was_under_way_while_its_session_was_forgotten(store: EdgeStore) -> None:
    """Its sayings went before its chunks came: who knows the message can still have it dropped."""
    late = indexed("late", ["amber"])
    await store._upsert(
        [*chunk_points(ORIGIN.tenant, [late], False), *marker_points(ORIGIN.tenant, [late])], True
    )
    assert await store.forget("t", "first", before=1) == Forgotten()
    assert await store.forget("t", "first", before=1, addresses=[key_of(late)]) == Forgotten(1, 1)
    assert await store.missing("t", [key_of(late)]) == {key_of(late)}
