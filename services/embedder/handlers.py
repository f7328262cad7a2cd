"""`ChunksCreated` in, the chunk store written: terms by one durable, vectors by the other."""

import asyncio
import time
from collections.abc import Callable
from itertools import groupby

from opentelemetry.trace import SpanKind

from services.embedder.embed import Embedding
from services.embedder.terms import origin, with_terms
from services.embedder.vectors import Item, groups, vectors_of, with_vectors
from shared.bus import Delivery, Faulty
from shared.contracts.events import ChunksCreated
from shared.models.port import Embedder
from shared.store.port import ChunkStore
from shared.tracing import span

TERMS_QUIET_S = 0.1
TERMS_FIRST_S = 10.0
"""Vectors wait for terms that are being written in the same process, but no batch longer than this. A history
of a million tokens that comes at once is then findable in half the time; its vectors take as long as ever."""


class Handlers:
    """Idempotent: a redelivery writes what is there already and embeds nothing."""

    def __init__(self, store: ChunkStore, embedder: Embedder, stopping: Callable[[], bool]) -> None:
        self._store = store
        self._embedder = embedder
        self._stopping = stopping
        self._embeddings: dict[str, Embedding] = {}
        """By tenant, while a batch fails and is repeated."""
        self._terms_at = -TERMS_QUIET_S

    async def terms(self, batch: list[Delivery[ChunksCreated]]) -> None:
        for delivery in batch:
            with span("index terms", SpanKind.CONSUMER, parent=delivery.trace):
                # Off the event loop: other services may share it.
                messages = await asyncio.to_thread(with_terms, delivery.event.messages)
                await self._store.insert_terms(origin(delivery.event), messages)
            self._terms_at = time.monotonic()

    async def vectors(self, batch: list[Delivery[ChunksCreated]]) -> list[Faulty]:
        """A text that cannot be embedded stays findable by its terms; its message gets its marker."""
        await self._after_terms()
        faulty: list[Faulty] = []
        for tenant in dict.fromkeys(delivery.event.tenant for delivery in batch):
            deliveries = [delivery for delivery in batch if delivery.event.tenant == tenant]
            embedding = self._embeddings.setdefault(tenant, Embedding(self._embedder, self._stopping))
            # Over all events, so that the small ones of a trickle share a call.
            # One span for texts of several events, which share calls of the model: linked, not a child.
            with span("embed", SpanKind.CONSUMER, links=tuple(d.trace for d in deliveries)):
                items = await asyncio.to_thread(_items, deliveries)
                for group in groups(items, lambda item: len(item.message.chunks)):
                    await self._put(tenant, group, embedding)
            faulty += [fault for delivery in deliveries for fault in _faulty(delivery, embedding)]
        self._embeddings.clear()
        return faulty

    async def _after_terms(self) -> None:
        until = time.monotonic() + TERMS_FIRST_S
        quiet_at = self._terms_at + TERMS_QUIET_S
        while (now := time.monotonic()) < min(until, quiet_at):
            await asyncio.sleep(min(until, quiet_at) - now)
            quiet_at = self._terms_at + TERMS_QUIET_S

    async def _put(self, tenant: str, group: list[Item], embedding: Embedding) -> None:
        vectors = await vectors_of(tenant, [item.message for item in group], self._store, embedding)
        for _, items in groupby(group, key=lambda item: item.delivery.sequence):
            event_items = list(items)
            delivery = event_items[0].delivery
            with span("index vectors", SpanKind.CONSUMER, parent=delivery.trace):
                await self._store.put_vectors(
                    origin(delivery.event), [with_vectors(item.message, vectors) for item in event_items]
                )


def _items(deliveries: list[Delivery[ChunksCreated]]) -> list[Item]:
    return [
        Item(delivery, message) for delivery in deliveries for message in with_terms(delivery.event.messages)
    ]


def _faulty(delivery: Delivery[ChunksCreated], embedding: Embedding) -> list[Faulty]:
    return [
        Faulty(delivery, chunk.model_dump_json(), embedding.faulty[chunk.digest])
        for message in delivery.event.messages
        for chunk in message.chunks
        if chunk.digest in embedding.faulty
    ]
