import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from shared.errors import BackscrollError, DependencyUnavailable, PermanentFault
from shared.store.port import Origin
from shared.store.server import INDEXES, ServerStore
from tests.support.indexed import DIM, indexed, key_of
from tests.support.qdrant_http import QdrantOverEdge, serve_qdrant

ORIGIN = Origin("t", "first", 1000.0)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, QdrantOverEdge]]:
    with serve_qdrant(tmp_path) as served:
        yield served


def store_at(url: str, timeout: int = 5) -> ServerStore:
    return ServerStore(AsyncQdrantClient(url=url, timeout=timeout, check_compatibility=False), "c", DIM)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, PermanentFault),
        (403, DependencyUnavailable),
        (413, PermanentFault),
        (422, PermanentFault),
        (429, DependencyUnavailable),
        (500, DependencyUnavailable),
        (503, DependencyUnavailable),
    ],
)
async def test_errors_of_the_server(
    server: tuple[str, QdrantOverEdge], status: int, error: type[BackscrollError]
) -> None:
    url, qdrant = server
    store = store_at(url)
    await store.ensure()
    qdrant.fail_with = status
    with pytest.raises(error):
        await store.missing("t", [1])
    with pytest.raises(error):
        await store.insert_terms(ORIGIN, [indexed("a", ["amber"])])
    await store.close()


async def test_a_marker_is_not_written_where_its_chunks_failed(server: tuple[str, QdrantOverEdge]) -> None:
    url, qdrant = server
    store = store_at(url)
    await store.ensure()
    message = indexed("a", ["amber"])
    qdrant.fail_with = 500
    with pytest.raises(DependencyUnavailable):
        await store.insert_terms(ORIGIN, [message])
    qdrant.fail_with = None
    assert await store.missing("t", [key_of(message)]) == {key_of(message)}
    await store.insert_terms(ORIGIN, [message])
    assert await store.missing("t", [key_of(message)]) == set()
    await store.close()


async def test_nobody_listens() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        store = store_at(f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(DependencyUnavailable) as e:
            await store.ensure()
    assert e.value.part == "retriever_unavailable"
    await store.close()


async def test_a_server_that_does_not_answer() -> None:
    release = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    store = store_at(f"http://127.0.0.1:{port}", timeout=1)
    with pytest.raises(DependencyUnavailable, match="ReadTimeout"):
        await store.missing("t", [1])
    await store.close()
    release.set()
    server.close()
    await server.wait_closed()


async def test_two_replicas_start_at_once(server: tuple[str, QdrantOverEdge]) -> None:
    stores = [store_at(server[0]) for _ in range(4)]
    await asyncio.gather(*(store.ensure() for store in stores))
    assert await stores[0].missing("t", [1]) == {1}
    await asyncio.gather(*(store.close() for store in stores))


async def test_indexes_are_there_before_data(server: tuple[str, QdrantOverEdge]) -> None:
    store = store_at(server[0])
    await store.ensure()
    client = AsyncQdrantClient(url=server[0], check_compatibility=False)
    info = await client.get_collection("c")
    assert info.payload_schema.keys() == INDEXES.keys()
    before = server[1].requests
    await store.ensure()
    assert server[1].requests == before + 2
    await client.close()
    await store.close()
