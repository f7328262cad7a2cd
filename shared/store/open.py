"""Which store the settings name."""

import re
import warnings

from qdrant_client import AsyncQdrantClient

from shared.settings import Settings
from shared.store.edge import EdgeStore
from shared.store.port import ChunkStore
from shared.store.server import ServerStore

SERVER_TIMEOUT_S = 30


def open_store(settings: Settings, embedder: str, dim: int) -> ChunkStore:
    """The store of one embedding model's chunks: a vector of one model says nothing to another.

    Nothing is opened yet: call `ensure` once, `close` at the end. Edge is open in one process at a time,
    so services that share a process share one store.
    """
    name = collection_name(settings.collection, embedder)
    if settings.qdrant_url is None:
        return EdgeStore(settings.data_dir / "store", name, dim)
    with warnings.catch_warnings():
        # It warns of a key without TLS, which is how a store on a network of its own is reached.
        warnings.simplefilter("ignore", UserWarning)
        client = AsyncQdrantClient(
            url=settings.qdrant_url,
            api_key=settings.qdrant_api_key,
            timeout=SERVER_TIMEOUT_S,
            # It asks in a thread at once and warns where nothing answers yet; `ensure` says it better.
            check_compatibility=False,
        )
    return ServerStore(client, name, dim)


def collection_name(prefix: str, embedder: str) -> str:
    """Safe as a directory and in a URL."""
    return f"{prefix}-{re.sub(r'[^A-Za-z0-9]+', '-', embedder).strip('-').lower()}"
