"""Wires the embedder: the one place where its parts are built."""

from services.embedder.handlers import Handlers
from shared.bus import TERMS, VECTORS, Bus
from shared.models.port import Embedder
from shared.settings import Settings
from shared.store.port import ChunkStore

TERMS_EVENTS = 16
VECTORS_EVENTS = 4
"""An event has up to 256 KiB of text, on CPU a minute of embedding: a replica that fetches more keeps the
others idle."""


async def start(_: Settings, bus: Bus, store: ChunkStore, embedder: Embedder) -> None:
    """Indexes until the bus is closed. What is passed in stays the caller's to close."""
    handlers = Handlers(store, embedder, lambda: bus.is_closing)
    await bus.consume(TERMS, handlers.terms, max_messages=TERMS_EVENTS)
    await bus.consume(VECTORS, handlers.vectors, max_messages=VECTORS_EVENTS)
