"""All five services in one process, on embedded parts where no server is configured."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from backscroll.engine import create_engine
from backscroll.keys import own_file
from services.assembler import bootstrap as assembler
from services.chunker import bootstrap as chunker
from services.embedder import bootstrap as embedder
from services.gateway.bootstrap import gateway_app
from services.retriever import bootstrap as retriever
from shared.bus import Bus, connect, provision
from shared.bus.embedded import NatsServer
from shared.errors import PermanentFault
from shared.models.open import open_embedder, open_reranker
from shared.service import serving
from shared.settings import EngineSettings, Settings
from shared.store import open_store

DEMO_WINDOW = 8192
"""The demo engine's window, where the settings leave the window at its default."""


@dataclass(frozen=True)
class Running:
    url: str
    """Of the gateway, with `/v1`."""
    engine_url: str
    nats_url: str


@asynccontextmanager
async def standalone(settings: Settings) -> AsyncIterator[Running]:
    """Starts what is missing, then the services; stops all of it in reverse order."""
    async with AsyncExitStack() as stack:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        if settings.nats_url is None:
            if settings.keys_file is None and own_file(settings).exists():
                settings = settings.model_copy(update={"keys_file": own_file(settings)})
            nats = await NatsServer.start(settings.data_dir / "nats")
            stack.push_async_callback(nats.stop)
            settings = settings.model_copy(update={"nats_url": nats.url})
        if settings.engine_url is None and not settings.engines:
            if "max_context" not in settings.model_fields_set:
                settings = settings.model_copy(update={"max_context": DEMO_WINDOW})
            engine_port = await stack.enter_async_context(_demo_engine(settings))
            demo = EngineSettings(name="demo", url=f"http://127.0.0.1:{engine_port}/v1", chat_only=True)
            settings = settings.model_copy(update={"engines": (demo,)})
        nats_url = str(settings.nats_url)
        engine_url = settings.engine_url or settings.engines[0].url
        differences = await provision(nats_url, settings)
        if differences:
            raise PermanentFault("The bus differs from what is expected: " + "; ".join(differences))
        models = open_embedder(settings)
        stack.push_async_callback(models.close)
        reranker = open_reranker(settings)
        stack.push_async_callback(reranker.close)
        store = open_store(settings, models.name, models.dim)
        stack.push_async_callback(store.close)
        await store.ensure()

        async def bus(service: str) -> Bus:
            opened = await connect(nats_url, service=service)
            stack.push_async_callback(opened.close)
            return opened

        await chunker.start(settings, await bus("chunker"))
        await embedder.start(settings, await bus("embedder"), store, models)
        await retriever.start(settings, await bus("retriever"), store, models, reranker)
        await assembler.start(settings, await bus("assembler"))
        app = await stack.enter_async_context(gateway_app(settings, await bus("gateway")))
        port = await stack.enter_async_context(serving(app, settings.host, settings.port))
        yield Running(f"http://{settings.host}:{port}/v1", engine_url, nats_url)


@asynccontextmanager
async def _demo_engine(settings: Settings) -> AsyncIterator[int]:
    """In a thread with a loop of its own, so that reading a long prompt holds nothing else up."""
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    inner: list[asyncio.AbstractEventLoop] = []

    async def run() -> None:
        inner.append(asyncio.get_running_loop())
        app = create_engine(settings.max_context)
        async with serving(app, "127.0.0.1", 0) as port:
            loop.call_soon_threadsafe(started.set_result, port)
            await stop.wait()

    thread = asyncio.create_task(asyncio.to_thread(asyncio.run, run()))
    either: set[asyncio.Future[Any]] = {thread, started}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if thread.done():
        await thread
    try:
        yield started.result()
    finally:
        inner[0].call_soon_threadsafe(stop.set)
        await thread
