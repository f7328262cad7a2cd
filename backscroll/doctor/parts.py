"""The bus, the store, the model servers."""

import time
from collections.abc import AsyncIterator
from datetime import datetime

import nats
import nats.errors
import orjson

from backscroll.doctor.finding import Finding
from shared.bus import connect
from shared.errors import DependencyUnavailable, PermanentFault
from shared.models.open import open_embedder, open_reranker
from shared.models.rerank_http import HttpReranker
from shared.settings import Settings
from shared.store.open import collection_name, collections, of_prefix, open_store

CLOCK_OFF_S = 5.0
QUESTION, ANSWER = "When did the river rise?", "The river rose on Tuesday night."


async def check_bus(settings: Settings) -> AsyncIterator[Finding]:
    if settings.nats_url is None:
        yield Finding("bus", "embedded: `backscroll up` starts a NATS server of its own")
        return
    bus = await connect(settings.nats_url, service="doctor")
    try:
        await bus.check(settings)
        yield Finding(
            "bus", f"{_without_password(settings.nats_url)}: streams, durables and buckets are as expected"
        )
    except PermanentFault as differs:
        yield Finding(
            "bus", str(differs), "Run `backscroll provision`, with --update to change what differs."
        )
    finally:
        await bus.close()
    yield await _clock(settings.nats_url)


def _without_password(url: str) -> str:
    scheme, _, rest = url.rpartition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


async def _clock(url: str) -> Finding:
    """Ages and recency are told by this machine's clock, TTLs by the server's."""
    try:
        connection = await nats.connect(url, allow_reconnect=False, connect_timeout=5)
        try:
            before = time.time()
            reply = await connection.request("$JS.API.STREAM.INFO.MESSAGES", b"", timeout=5)
            middle = (before + time.time()) / 2
        finally:
            await connection.close()
        stamp = orjson.loads(reply.data)["ts"]
    except (nats.errors.Error, OSError, TimeoutError, orjson.JSONDecodeError, KeyError) as error:
        raise DependencyUnavailable("bus_unavailable", f"clock: {type(error).__name__}") from error
    # Nanoseconds are more than `fromisoformat` reads.
    server = datetime.fromisoformat(f"{stamp[:19]}+00:00").timestamp()
    off = middle - server
    text = f"off by {off:+.0f} s from the NATS server's"
    if abs(off) > CLOCK_OFF_S:
        return Finding(
            "clock", text, "Set both machines by NTP: blocks expire and recency fades by the clock."
        )
    return Finding("clock", text)


async def check_models(settings: Settings) -> AsyncIterator[Finding]:
    """The embedding model, and the store that its dimension decides."""
    embedder = open_embedder(settings)
    try:
        where = settings.embed_url or "bundled"
        vector = await embedder.query(QUESTION)
        text = f"{embedder.name} ({where}): dimension {len(vector)}"
        if len(vector) != embedder.dim:
            yield Finding(
                "embedding", text, f"Set BACKSCROLL_EMBED_DIM to {len(vector)}; it is {embedder.dim}."
            )
        else:
            yield Finding("embedding", text)
        yield await _store(settings, embedder.name, embedder.dim)
    finally:
        await embedder.close()


async def _store(settings: Settings, model: str, dim: int) -> Finding:
    name = collection_name(settings.collection, model)
    where = settings.qdrant_url or f"embedded in {settings.data_dir / 'store'}"
    try:
        there = await collections(settings)
    except DependencyUnavailable as error:
        return Finding("store", f"{where}: {error}", "Start Qdrant, or set BACKSCROLL_QDRANT_URL.")
    if name not in there:
        text = f"{where}: collection {name} is made at the first start"
        if others := of_prefix(settings.collection, there):
            return Finding("store", f"{text}, beside {', '.join(others)}", "`backscroll reindex` fills it.")
        return Finding("store", text)
    if there[name] != dim:
        return Finding(
            "store",
            f"{where}: collection {name} was made for dimension {there[name]}, the model gives {dim}",
            "Set BACKSCROLL_COLLECTION to a new name, or the model it was made for.",
        )
    if settings.qdrant_url is not None:
        store = open_store(settings, model, dim)
        try:
            # An index that is missing makes every search read all of a tenant: it is made.
            await store.ensure()
        finally:
            await store.close()
    return Finding("store", f"{where}: collection {name}, dimension {dim}")


async def check_reranker(settings: Settings) -> AsyncIterator[Finding]:
    reranker = open_reranker(settings)
    try:
        if not isinstance(reranker, HttpReranker):
            yield Finding("rerank", "no server: candidates keep the order that words and vectors give")
            return
        shape, scale = await reranker.calibrate()
        await reranker.score("doctor", QUESTION, [ANSWER])
        yield Finding("rerank", f"{settings.rerank_url}: asked as {shape.__name__}, scores are {scale.value}")
    finally:
        await reranker.close()
