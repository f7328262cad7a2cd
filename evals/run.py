"""Runs a suite through the real HTTP endpoint: the history as a client sends it, then each question."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from rich.progress import Progress

from backscroll.standalone import standalone
from evals.capture import Capture
from evals.case import Case
from evals.embeddings import QUERY, EmbeddingCache
from evals.metrics import Judged, judge
from shared.bus import connect
from shared.service import serving
from shared.settings import Settings

POLL_S = 0.2
SETTLED_S = 3600.0


@dataclass(frozen=True)
class Setup:
    """What is run: settings of the product, and whether it has vectors."""

    system: str
    settings: dict[str, Any]
    vectors: bool
    cache: Path


@dataclass
class Bench:
    capture: Capture
    url: str
    nats_url: str
    client: httpx.AsyncClient

    async def ask(self, model: str, session: str, messages: list[dict[str, str]]) -> httpx.Response:
        reply = await self.client.post(
            f"{self.url}/chat/completions",
            json={"model": model, "messages": messages},
            headers={"x-session-id": session},
        )
        reply.raise_for_status()
        return reply


@asynccontextmanager
async def bench(setup: Setup, budgets: list[int]) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        capture = Capture(budgets)
        engine = await stack.enter_async_context(serving(capture.app(), "127.0.0.1", 0))
        changed = dict(setup.settings)
        if setup.vectors:
            cache = EmbeddingCache(setup.cache)
            stack.push_async_callback(cache.close)
            port = await stack.enter_async_context(serving(cache.app(), "127.0.0.1", 0))
            changed |= {
                "embed_url": f"http://127.0.0.1:{port}/embeddings",
                "embed_model": "multilingual-e5-small",
                "embed_dim": cache.dim,
                "embed_query_prefix": QUERY,
                "query_embed_timeout_s": 60,
            }
        else:
            changed |= {"embed_url": "http://127.0.0.1:9/embeddings", "embed_dim": 384}
        folder = stack.enter_context(TemporaryDirectory(prefix="backscroll-eval-"))
        settings = Settings(
            engine_url=f"http://127.0.0.1:{engine}/v1",
            data_dir=Path(folder),
            port=0,
            max_context=max(capture.windows.values()),
            **changed,
        )
        running = await stack.enter_async_context(standalone(settings))
        client = await stack.enter_async_context(httpx.AsyncClient(timeout=600))
        yield Bench(capture, running.url, running.nats_url, client)


async def run(
    setup: Setup, cases: Iterable[Case], budgets: list[int], progress: Progress
) -> list[tuple[int, Judged]]:
    """One judgement for each question at each budget."""
    results: list[tuple[int, Judged]] = []
    async with bench(setup, budgets) as at:
        for case in cases:
            task = progress.add_task(f"{setup.system} {case.name}", total=len(case.questions) * len(budgets))
            history = case.messages()
            await at.ask(f"b{min(budgets)}", "import", [*history, {"role": "user", "content": "Thanks."}])
            if setup.vectors:
                await _embedded(at.nats_url)
            for budget in budgets:
                for question in case.questions:
                    await at.ask(f"b{budget}", question.id, case.asked(question))
                    seen = at.capture.prompts.pop((f"b{budget}", question.id))
                    results.append((budget, judge(case, question, seen["text"], seen["tokens"])))
                    progress.advance(task)
        if at.capture.invalid:
            raise AssertionError(f"invalid prompts: {at.capture.invalid[:3]}")
    return results


async def _embedded(nats_url: str) -> None:
    """Until every vector that was asked for is made."""
    bus = await connect(nats_url, service="evaluation")
    try:
        async with asyncio.timeout(SETTLED_S):
            while True:
                states = [
                    await bus.js.consumer_info(stream, durable)
                    for stream, durable in (
                        ("MESSAGES", "chunker"),
                        ("CHUNKS", "terms"),
                        ("CHUNKS", "vectors"),
                    )
                ]
                if not any(s.num_pending or s.num_ack_pending for s in states):
                    return
                await asyncio.sleep(POLL_S)
    finally:
        await bus.close()
