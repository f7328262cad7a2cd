"""The five services in this process, each on a connection of its own, to be stopped one by one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import openai

from services.assembler import bootstrap as assembler
from services.chunker import bootstrap as chunker
from services.embedder import bootstrap as embedder
from services.gateway.bootstrap import gateway_app
from services.retriever import bootstrap as retriever
from shared.bus import Bus, connect, provision
from shared.bus.embedded import NatsServer
from shared.models.open import open_embedder, open_reranker
from shared.service import serving
from shared.settings import Settings
from shared.store import open_store
from shared.store.port import ChunkStore
from tests.support.served import free_port

SERVICES = ("chunker", "embedder", "retriever", "assembler", "gateway")


class Stack:
    """`start` and `stop` take the name of a service; `stop_nats` and `start_nats` take the bus away.

    `store` is the one that the services share, as they do in `backscroll up`.
    """

    def __init__(self, settings: Settings, nats_dir: Path) -> None:
        self.settings = settings
        self.store: ChunkStore
        self._nats_dir = nats_dir
        self._nats_port = free_port()
        self._parts = AsyncExitStack()
        self._services: dict[str, AsyncExitStack] = {}

    async def open(self) -> None:
        await self.start_nats()
        assert await provision(self._nats.url, self.settings) == []
        self._embedder = open_embedder(self.settings)
        self._parts.push_async_callback(self._embedder.close)
        self._reranker = open_reranker(self.settings)
        self._parts.push_async_callback(self._reranker.close)
        self.store = open_store(self.settings, self._embedder.name, self._embedder.dim)
        self._parts.push_async_callback(self.store.close)
        await self.store.ensure()
        for name in SERVICES:
            await self.start(name)

    async def close(self) -> None:
        await asyncio.gather(*map(self.stop, [*self._services]))
        await self._parts.aclose()
        await self.stop_nats()

    async def start_nats(self) -> None:
        self._nats = await NatsServer.start(self._nats_dir, self._nats_port)

    async def stop_nats(self) -> None:
        await self._nats.stop()

    async def start(self, name: str) -> None:
        stack = AsyncExitStack()
        bus = await connect(self._nats.url, service=name)
        stack.push_async_callback(bus.close)
        self._services[name] = stack
        match name:
            case "chunker":
                await chunker.start(self.settings, bus)
            case "embedder":
                await embedder.start(self.settings, bus, self.store, self._embedder)
            case "retriever":
                await retriever.start(self.settings, bus, self.store, self._embedder, self._reranker)
            case "assembler":
                await assembler.start(self.settings, bus)
            case _:
                await self._serve(stack, bus)

    async def _serve(self, stack: AsyncExitStack, bus: Bus) -> None:
        app = await stack.enter_async_context(gateway_app(self.settings, bus))
        port = await stack.enter_async_context(serving(app, "127.0.0.1", 0))
        self.bus = bus
        self.url = f"http://127.0.0.1:{port}"
        self.http = await stack.enter_async_context(httpx.AsyncClient(base_url=self.url, timeout=60))
        sdk = openai.AsyncOpenAI(base_url=f"{self.url}/v1", api_key="none", max_retries=0)
        self.sdk = await stack.enter_async_context(sdk)

    async def stop(self, name: str) -> None:
        await self._services.pop(name).aclose()

    async def counted(self, part: str) -> float:
        """Requests served without a part, so far."""
        return await self.metric(f'backscroll_degradations_total{{part="{part}"}}')

    async def metric(self, name: str) -> float:
        lines = (await self.http.get("/metrics")).text.splitlines()
        return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(name + " ")), 0.0)

    async def record(self, record_id: str) -> dict[str, Any]:
        reply = await self.http.get(f"/v1/records/{record_id}")
        found: dict[str, Any] = reply.json()
        assert reply.status_code == 200, found
        return found


@asynccontextmanager
async def running(settings: Settings, nats_dir: Path) -> AsyncIterator[Stack]:
    stack = Stack(settings, nats_dir)
    try:
        await stack.open()
        yield stack
    finally:
        await stack.close()
