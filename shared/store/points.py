"""The chunk store over a few operations on points, which the adapters bring."""

import asyncio
from collections.abc import Sequence
from itertools import chain, starmap

from opentelemetry.trace import SpanKind

from shared.errors import PermanentFault
from shared.store.copying import Copying, Said
from shared.store.mapping import (
    KEY,
    LIGHT,
    Where,
    batches,
    chunk_id,
    chunk_points,
    light_chunk,
    marker_points,
    message_key,
    said_point,
)
from shared.store.port import (
    Coverage,
    Found,
    Hit,
    IndexedMessage,
    LightChunk,
    Origin,
    Search,
    StoredText,
    Vector,
)
from shared.tracing import span

MANY_TIES = 4
"""A second look, this many times as deep, where ties reach beyond the first. Beyond it chance decides."""


class PointStore(Copying):
    """Decides what is written and asked; the adapters only translate. See `ChunkStore` for the contract."""

    async def insert_terms(self, origin: Origin, messages: Sequence[IndexedMessage]) -> None:
        with span("store insert_terms", SpanKind.CLIENT):
            await self._write(_said(origin, messages), messages, vectors=False)

    async def put_vectors(self, origin: Origin, messages: Sequence[IndexedMessage]) -> None:
        with span("store put_vectors", SpanKind.CLIENT):
            await self._write(_said(origin, messages), messages, vectors=True)

    async def copy(self, said: Sequence[Said], messages: Sequence[IndexedMessage]) -> None:
        """Of one tenant: who said these and messages that are here already, as another store tells it."""
        await self._write(said, messages, vectors=True)

    async def _write(self, said: Sequence[Said], messages: Sequence[IndexedMessage], vectors: bool) -> None:
        if not said:
            return
        tenant = said[0].origin.tenant
        points = list(chunk_points(tenant, messages, vectors))
        for point in points:
            if point.vector is not None and point.vector.shape != (self.dim,):
                raise PermanentFault(
                    f"a vector of shape {point.vector.shape} for a store of dimension {self.dim}"
                )
        without = (point for point in points if point.vector is None)
        # A point that brings no vector never replaces one that has it.
        for batch in batches(chain(starmap(said_point, said), without)):
            await self._upsert(batch, insert_only=True)
        for batch in batches(point for point in points if point.vector is not None):
            await self._upsert(batch, insert_only=False)
        # A write of its own: shards of a server apply one upsert in no order, and a marker that is
        # there before its chunks would hide for ever that they are missing.
        for batch in batches(marker_points(tenant, messages)):
            await self._upsert(batch, insert_only=True)

    async def missing(self, tenant: str, addresses: Sequence[int]) -> set[int]:
        wanted = set(addresses)
        if not wanted:
            return set()
        markers = Where(tenant, addresses=list(wanted), form="marker")
        # Counting costs half of listing (10,000 addresses), and mostly nothing is missing.
        if await self._count(markers) == len(wanted):
            return set()
        return wanted - {row.payload["address"] for row in await self._all(markers, ["address"])}

    async def coverage(self, tenant: str, addresses: Sequence[int]) -> Coverage:
        if not addresses:
            return Coverage(0, 0)
        chunks, with_vector = await asyncio.gather(
            self._count(Where(tenant, addresses=addresses, form="chunk")),
            self._count(Where(tenant, addresses=addresses, form="chunk", has_vector=True)),
        )
        return Coverage(chunks, with_vector)

    async def search(self, search: Search) -> Found:
        terms = search.terms if search.terms.indices else None
        if not search.addresses or search.limit < 1 or (terms is None and search.vector is None):
            return Found()
        # Markers have neither terms nor vectors, but Edge would look at each: 34 ms for 10,000 addresses, 18
        # without them.
        where = Where(search.tenant, addresses=search.addresses, form="chunk")
        asked = search.limit + search.limit // 8 + 16
        with span("store search", SpanKind.CLIENT, addresses=len(search.addresses)):
            by_terms, by_vector = await self._nearest(where, terms, search.vector, asked)
            if not _ties_complete(by_terms, search.limit, asked):
                by_terms, _ = await self._nearest(where, terms, None, MANY_TIES * asked)
            if not _ties_complete(by_vector, search.limit, asked):
                _, by_vector = await self._nearest(where, None, search.vector, MANY_TIES * asked)
        return Found(_ranked(by_terms, search.limit), _ranked(by_vector, search.limit))

    async def chunks(self, tenant: str, addresses: Sequence[int]) -> list[LightChunk]:
        if not addresses:
            return []
        rows = await self._all(Where(tenant, addresses=addresses, form="chunk"), LIGHT)
        return sorted((light_chunk(row.payload) for row in rows), key=_chunk_key)

    async def texts(self, tenant: str, keys: Sequence[tuple[int, int, int]]) -> list[StoredText | None]:
        if not keys:
            return []
        ids = [chunk_id(tenant, *key) for key in dict.fromkeys(map(tuple, keys))]
        with span("store texts", SpanKind.CLIENT, chunks=len(ids)):
            rows = await self._all(Where(tenant, ids=ids), [*KEY, "text"], vectors=True)
        found = {
            tuple(r.payload[field] for field in KEY): StoredText(r.payload["text"], r.vector) for r in rows
        }
        return [found.get(tuple(key)) for key in keys]

    async def vectors_by_digest(self, tenant: str, digests: Sequence[str]) -> dict[str, Vector]:
        found: dict[str, Vector] = {}
        wanted = set(digests)
        while wanted:
            where = Where(tenant, digests=list(wanted), form="chunk", has_vector=True)
            rows, more = await self._page(where, ["digest"], True, 2 * len(wanted), None)
            found.update({row.payload["digest"]: row.vector for row in rows if row.vector is not None})
            if more is None:
                break
            # A page can be full of one digest; each round finds at least one more.
            wanted -= found.keys()
        return found


def _said(origin: Origin, messages: Sequence[IndexedMessage]) -> list[Said]:
    return [Said(origin, message_key(message)) for message in messages]


def _chunk_key(chunk: LightChunk) -> tuple[int, int, int]:
    return chunk.address, chunk.unit, chunk.part


def _ties_complete(scored: list[Hit], limit: int, asked: int) -> bool:
    """Whether everything that ties with the last place taken is in the list.

    Which of equal scores a search cuts off is chance; taken by key instead, equal stores answer alike.
    """
    return len(scored) < asked or scored[limit - 1].score > scored[-1].score


def _ranked(scored: list[Hit], limit: int) -> list[Hit]:
    return sorted(scored, key=lambda hit: (-hit.score, *_chunk_key(hit.chunk)))[:limit]
