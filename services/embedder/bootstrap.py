"""Wires the embedder: the one place where its parts are built."""

import time

from services.embedder.erase import Erasing
from services.embedder.handlers import Handlers
from services.embedder.retention import expire_by_age
from shared.bus import ERASE, TERMS, VECTORS, Bus
from shared.models.port import Embedder
from shared.settings import Settings
from shared.store.port import ChunkStore

TERMS_EVENTS = 16
VECTORS_EVENTS = 4
"""An event has up to 256 KiB of text, on CPU a minute of embedding: a replica that fetches more keeps the
others idle."""


async def start(settings: Settings, bus: Bus, store: ChunkStore, embedder: Embedder) -> None:
    """Indexes until the bus is closed. What is passed in stays the caller's to close."""
    erasing = Erasing(bus, store, time.time)
    handlers = Handlers(store, embedder, lambda: bus.is_closing)
    await bus.consume(TERMS, handlers.terms, forget=erasing.forget, max_messages=TERMS_EVENTS)
    await bus.consume(VECTORS, handlers.vectors, forget=erasing.forget, max_messages=VECTORS_EVENTS)
    await bus.serve(ERASE, erasing.erase)
    if settings.store_max_age_s:
        bus.beside(expire_by_age(store, settings.store_max_age_s, time.time))
