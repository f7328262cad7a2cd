"""Wires the retriever: the one place where its parts are built."""

from services.retriever.handlers import Handlers
from services.retriever.recall import Recall
from shared.bus import RERANK, RETRIEVE, Bus
from shared.models.port import Embedder, Reranker
from shared.settings import Settings
from shared.store.port import ChunkStore


async def start(
    settings: Settings, bus: Bus, store: ChunkStore, embedder: Embedder, reranker: Reranker
) -> None:
    """Answers until the bus is closed. What is passed in stays the caller's to close."""
    handlers = Handlers(Recall(settings, store, embedder, reranker), store, reranker)
    await bus.serve(RETRIEVE, handlers.retrieve)
    await bus.serve(RERANK, handlers.rerank)
