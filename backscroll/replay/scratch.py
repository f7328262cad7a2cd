"""A store beside the ones in use, filled by the real chunker and embedder with settings of one's own."""

import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from backscroll.replay.compare import Key
from services.chunker.bootstrap import limits
from services.chunker.chunk import chunk_message
from services.embedder.embed import Embedding
from services.embedder.terms import origin, with_terms
from services.embedder.vectors import vectors_of, with_vectors
from shared.contracts.events import Chunk, ChunkedMessage, ChunksCreated, MessagesRecorded
from shared.errors import PermanentFault
from shared.models.port import Embedder
from shared.settings import Settings
from shared.store import open_store
from shared.store.port import ChunkStore


@dataclass
class Scratch:
    """`chunks` are all that were cut, by their places; `faulty` says why a message has none."""

    settings: Settings
    store: ChunkStore
    where: str
    chunks: dict[Key, Chunk] = field(default_factory=dict)
    faulty: dict[str, str] = field(default_factory=dict)

    async def index(self, event: MessagesRecorded, embedder: Embedder | None) -> None:
        """By its terms, and by its vectors where there is an embedder."""
        chunked = ChunksCreated(
            tenant=event.tenant,
            session=event.session,
            at=event.at,
            messages=tuple(self._chunk(event)),
        )
        messages = with_terms(chunked.messages)
        await self.store.insert_terms(origin(chunked), messages)
        if embedder is not None:
            embedding = Embedding(embedder, lambda: False)
            vectors = await vectors_of(event.tenant, messages, self.store, embedding)
            await self.store.put_vectors(origin(chunked), [with_vectors(m, vectors) for m in messages])
            self.faulty |= embedding.faulty

    def _chunk(self, event: MessagesRecorded) -> Iterable[ChunkedMessage]:
        wanted = limits(self.settings)
        for message in event.messages:
            chunks: tuple[Chunk, ...] = ()
            try:
                chunks = chunk_message(message, wanted)
            except PermanentFault as error:
                self.faulty[message.address] = str(error)
            self.chunks |= {(c.address, c.unit, c.start, c.end): c for c in chunks}
            yield ChunkedMessage(address=message.address, chunks=chunks)


@asynccontextmanager
async def scratch(
    settings: Settings, name: str | None, part: str, embedder: Embedder
) -> AsyncIterator[Scratch]:
    """Kept under its name, on the server that is set or under `data_dir/replay`; without one it is gone in
    the end."""
    with tempfile.TemporaryDirectory(prefix="backscroll-replay-") as folder:
        beside = {"collection": f"replay-{name or 'scratch'}-{part}"}
        if name is None:
            where = settings.model_copy(update=beside | {"qdrant_url": None, "data_dir": Path(folder)})
        else:
            where = settings.model_copy(update=beside | {"data_dir": settings.data_dir / "replay"})
        store = open_store(where, embedder.name, embedder.dim)
        try:
            await store.ensure()
            yield Scratch(settings, store, described(where, name))
        finally:
            await store.close()


def described(settings: Settings, name: str | None) -> str:
    if name is None:
        return "a folder that is removed afterwards"
    if settings.qdrant_url is not None:
        return f"collection {settings.collection}-* on the Qdrant server"
    return f"{settings.data_dir}/store/{settings.collection}-*"
