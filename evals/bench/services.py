"""All five services in one process, as `backscroll up` runs them, with models that take no time."""

import asyncio
from contextlib import AsyncExitStack
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evals.bench.models import HashEmbedder
from services.assembler import bootstrap as assembler
from services.chunker import bootstrap as chunker
from services.embedder import bootstrap as embedder
from services.gateway.bootstrap import gateway_app
from services.retriever import bootstrap as retriever
from shared.bus import Bus, connect, provision
from shared.bus.embedded import NatsServer
from shared.models.relevance import LightReranker
from shared.service import serving
from shared.settings import Settings
from shared.store import open_store
from shared.telemetry import configure_logging


class Ports(NamedTuple):
    gateway: int
    bare: int


def run_services(told: Connection, engine_port: int, folder: str) -> None:
    """Tells its ports; ends when anything comes back."""
    configure_logging("error")
    asyncio.run(_serve(told, f"http://127.0.0.1:{engine_port}/v1", Path(folder)))


async def _serve(told: Connection, engine_url: str, folder: Path) -> None:
    async with AsyncExitStack() as stack:
        nats = await NatsServer.start(folder / "nats")
        stack.push_async_callback(nats.stop)
        settings = Settings(engine_url=engine_url, nats_url=nats.url, data_dir=folder)
        await provision(nats.url, settings)
        models, reranker = HashEmbedder(), LightReranker()
        store = open_store(settings, models.name, models.dim)
        stack.push_async_callback(store.close)
        await store.ensure()

        async def bus(service: str) -> Bus:
            opened = await connect(nats.url, service=service)
            stack.push_async_callback(opened.close)
            return opened

        await chunker.start(settings, await bus("chunker"))
        await embedder.start(settings, await bus("embedder"), store, models)
        await retriever.start(settings, await bus("retriever"), store, models, reranker)
        await assembler.start(settings, await bus("assembler"))
        app = await stack.enter_async_context(gateway_app(settings, await bus("gateway")))
        gateway = await stack.enter_async_context(serving(app, "127.0.0.1", 0))
        client = await stack.enter_async_context(httpx.AsyncClient())
        bare = await stack.enter_async_context(serving(bare_proxy(client, engine_url), "127.0.0.1", 0))
        told.send(Ports(gateway, bare))
        await asyncio.to_thread(told.recv)


def bare_proxy(client: httpx.AsyncClient, engine_url: str) -> Starlette:
    """Starlette and httpx with nothing between: the floor of any proxy made of them."""

    async def forward(request: Request) -> Response:
        reply = await client.post(
            f"{engine_url}/chat/completions",
            content=await request.body(),
            headers={"content-type": "application/json"},
        )
        return Response(reply.content, reply.status_code, media_type="application/json")

    return Starlette(routes=[Route("/v1/chat/completions", forward, methods=["POST"])])
