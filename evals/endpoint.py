"""Backscroll as a client meets it: all services, the real HTTP endpoint, a capturing engine behind it."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import httpx
from starlette.applications import Starlette

from backscroll.standalone import standalone
from evals.capture import Capture, Prompt
from evals.embeddings import EMBED_MODEL, QUERY, EmbeddingCache
from shared.bus import connect
from shared.service import serving
from shared.settings import Settings

POLL_S = 0.1
SETTLED_S = 3600.0
ASK_S = 600.0
RECORD_S = 30.0
NOWHERE = "http://127.0.0.1:9/embeddings"
INDEXING = (("MESSAGES", "chunker"), ("CHUNKS", "terms"), ("CHUNKS", "vectors"))
"""Stream and durable of each step between a message and its vector."""


class EmbeddingServer(Protocol):
    def app(self) -> Starlette: ...


@dataclass(frozen=True)
class Asked:
    prompt: Prompt
    seconds: float
    """From the request to the whole answer; the engine answers at once."""
    headers: Mapping[str, str]

    @property
    def degraded(self) -> tuple[str, ...]:
        """What the request went without."""
        told = self.headers.get("x-backscroll-degraded", "")
        return tuple(part.strip() for part in told.split(",") if part.strip())


@dataclass(frozen=True)
class Endpoint:
    capture: Capture
    url: str
    nats_url: str
    client: httpx.AsyncClient
    cache: EmbeddingServer | None
    """The embedding model; None: by terms alone."""

    async def ask(
        self, model: str, session: str, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] = ()
    ) -> Asked:
        """Sends the request as a client does. Raises where the answer is an error."""
        body: dict[str, Any] = {"model": model, "messages": messages}
        if tools:
            body["tools"] = tools
        began = time.perf_counter()
        reply = await self.client.post(
            f"{self.url}/chat/completions", json=body, headers={"x-session-id": session}
        )
        seconds = time.perf_counter() - began
        reply.raise_for_status()
        return Asked(self.capture.take(model, session), seconds, reply.headers)

    async def settle(self) -> None:
        """Until everything that was sent is indexed: its terms, and its vectors where there are any."""
        bus = await connect(self.nats_url, service="evaluation")
        steps = INDEXING if self.cache else INDEXING[:2]
        try:
            async with asyncio.timeout(SETTLED_S):
                while True:
                    states = [await bus.js.consumer_info(stream, durable) for stream, durable in steps]
                    if not any(s.num_pending or s.num_ack_pending for s in states):
                        return
                    await asyncio.sleep(POLL_S)
        finally:
            await bus.close()

    async def record(self, asked: Asked) -> dict[str, Any] | None:
        """What was decided for a request, and why; None where it was passed through."""
        name = asked.headers.get("x-backscroll-record")
        if name is None:
            return None
        async with asyncio.timeout(RECORD_S):
            while True:
                reply = await self.client.get(f"{self.url}/records/{name}")
                if reply.status_code == httpx.codes.OK:
                    found: dict[str, Any] = reply.json()
                    return found
                await asyncio.sleep(POLL_S)


@asynccontextmanager
async def endpoint(
    windows: Mapping[str, int], settings: Mapping[str, Any], cache: EmbeddingServer | None
) -> AsyncIterator[Endpoint]:
    """`windows`: of each model. `settings` go before those of the evaluation."""
    async with AsyncExitStack() as stack:
        capture = Capture(windows)
        engine = await stack.enter_async_context(serving(capture.app(), "127.0.0.1", 0))
        embedding: dict[str, Any] = {"embed_url": NOWHERE, "embed_dim": EmbeddingCache.DIM}
        if cache is not None:
            port = await stack.enter_async_context(serving(cache.app(), "127.0.0.1", 0))
            embedding["embed_url"] = f"http://127.0.0.1:{port}/embeddings"
        folder = stack.enter_context(TemporaryDirectory(prefix="backscroll-eval-"))
        whole = Settings(
            **{
                "engine_url": f"http://127.0.0.1:{engine}/v1",
                "data_dir": Path(folder),
                "port": 0,
                "max_context": max(windows.values()),
                "embed_model": EMBED_MODEL,
                "embed_query_prefix": QUERY,
                "query_embed_timeout_s": 60,
                **embedding,
                **settings,
            }
        )
        running = await stack.enter_async_context(standalone(whole))
        client = await stack.enter_async_context(httpx.AsyncClient(timeout=ASK_S))
        yield Endpoint(capture, running.url, running.nats_url, client, cache)


@asynccontextmanager
async def engine_alone(windows: Mapping[str, int]) -> AsyncIterator[Endpoint]:
    """The capturing engine without Backscroll, for prompts that are made elsewhere."""
    capture = Capture(windows)
    async with (
        serving(capture.app(), "127.0.0.1", 0) as port,
        httpx.AsyncClient(timeout=ASK_S) as client,
    ):
        yield Endpoint(capture, f"http://127.0.0.1:{port}/v1", "", client, None)
