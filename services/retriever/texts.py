"""Texts and vectors of the rows that need them, read once a request."""

from collections.abc import Iterable

from services.retriever.locate import Pool
from shared.store.port import ChunkStore, StoredText


class Texts:
    def __init__(self, store: ChunkStore, tenant: str, pool: Pool) -> None:
        self._store = store
        self._tenant = tenant
        self._pool = pool
        self._known: dict[int, StoredText | None] = {}

    async def of(self, rows: Iterable[int]) -> list[StoredText | None]:
        """In the order asked; None for a chunk that was erased since it was found."""
        wanted = [int(row) for row in rows]
        new = [row for row in dict.fromkeys(wanted) if row not in self._known]
        if new:
            stored = await self._store.texts(self._tenant, [self._pool.key(row) for row in new])
            self._known.update(zip(new, stored, strict=True))
        return [self._known[row] for row in wanted]
