"""Which store the settings name."""

import re
import warnings
from collections.abc import Iterable
from pathlib import Path

from qdrant_client import AsyncQdrantClient

from shared.settings import Settings
from shared.store.edge import EdgeStore, shards
from shared.store.points import PointStore
from shared.store.server import ServerStore, collections_of

SERVER_TIMEOUT_S = 30


def open_store(settings: Settings, embedder: str, dim: int) -> PointStore:
    """The store of one embedding model's chunks: a vector of one model says nothing to another."""
    return open_collection(settings, collection_name(settings.collection, embedder), dim)


def open_collection(settings: Settings, name: str, dim: int) -> PointStore:
    """Nothing is opened yet: call `ensure` once, `close` at the end. Edge is open in one process at a time,
    so services that share a process share one store.
    """
    if settings.qdrant_url is None:
        return EdgeStore(_folder(settings), name, dim)
    return ServerStore(_client(settings, settings.qdrant_url), name, dim)


async def collections(settings: Settings) -> dict[str, int]:
    """The dimensions of those that are there, by their names.

    Raises `DependencyUnavailable("retriever_unavailable", ...)`.
    """
    if settings.qdrant_url is None:
        return shards(_folder(settings))
    client = _client(settings, settings.qdrant_url)
    try:
        return await collections_of(client)
    finally:
        await client.close()


def _folder(settings: Settings) -> Path:
    return settings.data_dir / "store"


def _client(settings: Settings, url: str) -> AsyncQdrantClient:
    with warnings.catch_warnings():
        # It warns of a key without TLS, which is how a store on a network of its own is reached.
        warnings.simplefilter("ignore", UserWarning)
        return AsyncQdrantClient(
            url=url,
            api_key=settings.qdrant_api_key,
            timeout=SERVER_TIMEOUT_S,
            # It asks in a thread at once and warns where nothing answers yet; `ensure` says it better.
            check_compatibility=False,
        )


def collection_name(prefix: str, embedder: str) -> str:
    """Safe as a directory and in a URL."""
    return f"{prefix}-{re.sub(r'[^A-Za-z0-9]+', '-', embedder).strip('-').lower()}"


def of_prefix(prefix: str, names: Iterable[str]) -> list[str]:
    """Those that hold the chunks of some embedding model."""
    return [name for name in names if name.startswith(f"{prefix}-")]
