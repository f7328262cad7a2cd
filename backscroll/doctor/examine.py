"""The whole examination, part by part; one that is down keeps no other from being looked at."""

from collections.abc import AsyncIterator

import httpx

from backscroll.doctor.engine import check_engine
from backscroll.doctor.finding import Finding, guarded
from backscroll.doctor.parts import check_bus, check_models, check_reranker
from services.gateway.bootstrap import engines_of, key_of
from shared.settings import EngineSettings, Settings
from shared.tokens.open import open_counter

ENGINE_TIMEOUT_S = 120.0


async def examine_engines(settings: Settings, *, probe_overflow: bool) -> AsyncIterator[Finding]:
    """The engines that are set."""
    async with _client() as client:
        for engine in _engines(settings):
            check = _engine(settings, engine, client, probe_overflow=probe_overflow)
            for finding in await guarded(f"engine {engine.name}", "See the settings of this engine.", check):
                yield finding


async def examine(settings: Settings, url: str | None, *, probe_overflow: bool) -> AsyncIterator[Finding]:
    """`url` is a running Backscroll, with `/v1`, whose embedded parts cannot be looked at from outside."""
    async with _client() as client:
        if url is not None:
            for finding in await guarded("backscroll", "Start it.", _running(url, client)):
                yield finding
    async for finding in examine_engines(settings, probe_overflow=probe_overflow):
        yield finding
    if not _engines(settings):
        yield Finding("engine", "none is set: `backscroll up` brings the demo engine")
    for part, mend, check in (
        ("bus", "Start NATS with JetStream, or set BACKSCROLL_NATS_URL.", check_bus(settings)),
        ("embedding", "Start the embedding server, or set BACKSCROLL_EMBED_URL.", check_models(settings)),
        ("rerank", "Start the rerank server, or set BACKSCROLL_RERANK_URL.", check_reranker(settings)),
    ):
        for finding in await guarded(part, mend, check):
            yield finding


def _client() -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=httpx.Timeout(ENGINE_TIMEOUT_S, connect=5))


def _engines(settings: Settings) -> list[EngineSettings]:
    return engines_of(settings) if settings.engines or settings.engine_url else []


async def _engine(
    settings: Settings, engine: EngineSettings, client: httpx.AsyncClient, *, probe_overflow: bool
) -> AsyncIterator[Finding]:
    key = key_of(settings, engine)
    counter = open_counter(settings, client, engine.url, key)
    async for finding in check_engine(
        settings, engine.name, engine.url, key, counter, client, probe_overflow=probe_overflow
    ):
        yield finding


async def _running(url: str, client: httpx.AsyncClient) -> AsyncIterator[Finding]:
    root = url.rstrip("/").removesuffix("/v1")
    try:
        ready = await client.get(f"{root}/health/ready")
    except httpx.HTTPError as error:
        yield Finding(
            "backscroll", f"{url} cannot be reached ({type(error).__name__})", "Run `backscroll up`."
        )
        return
    if ready.status_code == 200:
        yield Finding("backscroll", f"{url} is ready")
    else:
        yield Finding(
            "backscroll", f"{url} is not ready: {ready.text[:200]}", "See its log, and the lines below."
        )
