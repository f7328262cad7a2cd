"""A real nats-server for tests. Import both fixtures into a `conftest.py`."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import nats
import pytest

from shared.bus import Bus, connect
from shared.bus import provision as provision_streams
from shared.bus.embedded import NatsServer
from shared.settings import Settings


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    server = asyncio.run(NatsServer.start(tmp_path_factory.mktemp("nats")))
    yield server
    asyncio.run(server.stop())


@pytest.fixture
async def nats_url(nats_server: NatsServer) -> str:
    """The server without a stream on it."""
    client = await nats.connect(nats_server.url)
    js = client.jetstream()
    for stream in await js.streams_info():
        await js.delete_stream(str(stream.config.name))
    await client.close()
    return nats_server.url


@pytest.fixture
async def bus(nats_url: str) -> AsyncIterator[Bus]:
    """A connection to a provisioned server, named `test`."""
    assert await provision_streams(nats_url, Settings()) == []
    bus = await connect(nats_url, service="test")
    yield bus
    await bus.close()
