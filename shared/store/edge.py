"""The chunk store in process, on Qdrant Edge."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
import qdrant_edge as edge

from shared.errors import DependencyUnavailable, PermanentFault
from shared.store.mapping import DENSE, LIGHT, TERMS, Point, Row, Where, light_chunk
from shared.store.points import PointStore
from shared.store.port import Hit, LightChunk, Vector
from shared.store.rewrite import rewrite, take_over
from shared.text.terms import Terms

T = TypeVar("T")

INDEXES: dict[str, Any] = {
    "tenant": edge.KeywordIndexParams(is_tenant=True),
    "address": edge.IntegerIndexParams(lookup=True, range=False),
    "form": edge.KeywordIndexParams(),
    "digest": edge.KeywordIndexParams(),
    "session": edge.KeywordIndexParams(),
    "era": edge.IntegerIndexParams(lookup=False, range=True),
    "at": edge.FloatIndexParams(),
}
FLUSH_EVERY = 20_000
"""Points. A write is safe from a killed process once it is in the log; a flush bounds what is replayed."""
LIGHT_KEPT = 65_536
"""Hits' chunks kept, some 400 bytes each. A chunk never changes, and reading the light fields of 1,000 hits
unpacks their texts too: 13 to 20 ms."""


class EdgeStore(PointStore):
    """One shard under `path / name`, open in one process at a time.

    The vector index stays plain (`optimize` is never called): building HNSW over 20,000 points took 28 s,
    and a search visits the texts of one request only.
    """

    def __init__(self, path: Path, name: str, dim: int) -> None:
        super().__init__(name, dim)
        self._directory = path / name
        self._shard: edge.EdgeShard | None = None
        self._writing = asyncio.Lock()
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._admitting = asyncio.Event()
        self._admitting.set()
        self._unflushed = 0
        self._light: dict[UUID | str | int, LightChunk] = {}

    async def ensure(self) -> None:
        async with self._writing:
            if self._shard is None:
                self._shard = await asyncio.to_thread(self._open)

    async def close(self) -> None:
        async with self._writing:
            shard, self._shard = self._shard, None
            if shard is not None:
                await asyncio.to_thread(shard.flush)
                await asyncio.to_thread(shard.close)

    async def compact(self) -> None:
        """Writes wait for all of it, searches for the moment in which the shards change places."""
        async with self._writing:
            if self._shard is None:
                return
            await self._run(lambda shard: rewrite(shard, _config(self.dim), self._directory))
            self._admitting.clear()
            try:
                await self._idle.wait()
                await asyncio.to_thread(self._shard.close)
                self._shard = await asyncio.to_thread(self._open)
            finally:
                self._admitting.set()

    def _open(self) -> edge.EdgeShard:
        take_over(self._directory)
        there = _dim(self._directory)
        if there is not None:
            if there != self.dim:
                raise PermanentFault(
                    f"store {self._directory} was made for dimension {there}, the model gives {self.dim}"
                )
            shard = self._load()
        else:
            self._directory.mkdir(parents=True, exist_ok=True)
            shard = edge.EdgeShard.create(str(self._directory), _config(self.dim))
        for field in INDEXES.keys() - shard.info().payload_schema.keys():
            shard.update(edge.UpdateOperation.create_field_index(field, INDEXES[field]))
        return shard

    def _load(self) -> edge.EdgeShard:
        try:
            return edge.EdgeShard.load(str(self._directory))
        except Exception as e:  # Edge has no class of its own
            if "WouldBlock" in str(e):
                raise PermanentFault(f"store {self._directory} is open already, here or elsewhere") from e
            raise PermanentFault(f"store {self._directory} cannot be opened: {e}") from e

    async def _run(self, call: Callable[[edge.EdgeShard], T]) -> T:
        await self._admitting.wait()
        shard = self._shard
        if shard is None:
            raise DependencyUnavailable("retriever_unavailable", f"store {self._directory} is not open")
        self._running += 1
        self._idle.clear()
        try:
            return await asyncio.to_thread(call, shard)
        except Exception as e:
            if type(e) is not Exception:  # the class that Edge raises; any other is a mistake of ours
                raise
            raise DependencyUnavailable("retriever_unavailable", f"store {self._directory}: {e}") from e
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()

    async def _upsert(self, points: list[Point], insert_only: bool) -> None:
        mode = edge.UpdateMode.InsertOnly if insert_only else edge.UpdateMode.Upsert

        def write(shard: edge.EdgeShard) -> None:
            shard.update(edge.UpdateOperation.upsert_points([_point(p) for p in points], update_mode=mode))

        async with self._writing:
            await self._run(write)
            self._unflushed += len(points)
            if self._unflushed >= FLUSH_EVERY:
                await self._run(lambda shard: shard.flush())
                self._unflushed = 0

    async def _delete(self, where: Where) -> None:
        async with self._writing:
            await self._run(
                lambda shard: shard.update(edge.UpdateOperation.delete_points_by_filter(_filter(where)))
            )

    async def _count(self, where: Where) -> int:
        return await self._run(lambda shard: shard.count(edge.CountRequest(filter=_filter(where))))

    async def _page(
        self, where: Where, fields: list[str], vectors: bool, limit: int, offset: UUID | str | int | None
    ) -> tuple[list[Row], UUID | str | int | None]:
        def read(shard: edge.EdgeShard) -> tuple[list[Row], UUID | str | int | None]:
            records, after = shard.scroll(
                edge.ScrollRequest(
                    offset=offset,
                    limit=limit,
                    filter=_filter(where),
                    with_payload=fields,
                    with_vector=[DENSE] if vectors else False,
                )
            )
            return [Row(r.payload or {}, _dense(r.vector)) for r in records], after

        return await self._run(read)

    async def _nearest(
        self, where: Where, terms: Terms | None, vector: Vector | None, limit: int
    ) -> tuple[list[Hit], list[Hit]]:
        def read(shard: edge.EdgeShard) -> tuple[list[Hit], list[Hit]]:
            scope = _filter(where)
            requests = []
            if terms is not None:
                query = edge.Query.Nearest(_sparse(terms), using=TERMS)
                params = edge.SearchParams(idf=edge.IdfParams(corpus=scope))
                requests.append(_request(query, scope, limit, params))
            if vector is not None:
                query = edge.Query.Nearest(vector.tolist(), using=DENSE)
                requests.append(_request(query, scope, limit, None))
            answers = iter(shard.query_batch(edge.QueryBatchRequest(requests)))
            by_terms = self._scored(shard, next(answers)) if terms is not None else []
            by_vector = self._scored(shard, next(answers)) if vector is not None else []
            return by_terms, by_vector

        return await self._run(read)

    def _scored(self, shard: edge.EdgeShard, points: list[edge.ScoredPoint]) -> list[Hit]:
        """With their light fields; without those that were erased since they were found."""
        ids = [point.id for point in points]
        found = {i: chunk for i in ids if (chunk := self._light.get(i)) is not None}
        if unknown := [i for i in ids if i not in found]:
            read = shard.retrieve(unknown, with_payload=LIGHT, with_vector=False)
            new = {record.id: light_chunk(record.payload or {}) for record in read}
            found |= new
            if len(self._light) + len(new) > LIGHT_KEPT:
                self._light = {}
            self._light |= new
        return [Hit(found[i], p.score) for i, p in zip(ids, points, strict=True) if i in found]


def shards(path: Path) -> dict[str, int]:
    """The dimensions of those under it, by their names."""
    found = {directory.name: _dim(directory) for directory in sorted(path.glob("*"))}
    return {name: dim for name, dim in found.items() if dim is not None}


def _dim(directory: Path) -> int | None:
    """None where no shard is."""
    config = directory / "edge_config.json"
    return int(json.loads(config.read_bytes())["vectors"][DENSE]["size"]) if config.exists() else None


def _config(dim: int) -> edge.EdgeConfig:
    return edge.EdgeConfig(
        vectors={DENSE: edge.EdgeVectorParams(size=dim, distance=edge.Distance.Cosine)},
        sparse_vectors={TERMS: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=100, full_scan_threshold=10_000, payload_m=16),
    )


def _filter(where: Where) -> edge.Filter:
    must: list[Any] = []
    if where.tenant is not None:
        must.append(edge.FieldCondition("tenant", match=edge.MatchValue(where.tenant)))
    if where.addresses is not None:
        must.append(edge.FieldCondition("address", match=edge.MatchAny(list(where.addresses))))
    if where.digests is not None:
        must.append(edge.FieldCondition("digest", match=edge.MatchAny(list(where.digests))))
    if where.ids is not None:
        must.append(edge.HasIdCondition(set(where.ids)))
    if where.form is not None:
        must.append(edge.FieldCondition("form", match=edge.MatchValue(where.form)))
    if where.has_vector:
        must.append(edge.HasVectorCondition(DENSE))
    if where.session is not None:
        must.append(edge.FieldCondition("session", match=edge.MatchValue(where.session)))
    if where.era_below is not None:
        must.append(edge.FieldCondition("era", range=edge.RangeFloat(lt=where.era_below)))
    if where.said_before is not None:
        must.append(edge.FieldCondition("at", range=edge.RangeFloat(lt=where.said_before)))
    return edge.Filter(must=must)


def _request(
    query: edge.Query, scope: edge.Filter, limit: int, params: edge.SearchParams | None
) -> edge.QueryRequest:
    return edge.QueryRequest(limit=limit, query=query, filter=scope, with_payload=False, params=params)


def _point(point: Point) -> edge.Point:
    vectors: dict[str, Any] = {}
    if point.terms is not None:
        vectors[TERMS] = _sparse(point.terms)
    if point.vector is not None:
        vectors[DENSE] = point.vector.tolist()
    return edge.Point(id=point.id, vector=vectors, payload=point.payload)


def _sparse(terms: Terms) -> edge.SparseVector:
    return edge.SparseVector(list(terms.indices), list(terms.values))


def _dense(vectors: Any) -> Vector | None:
    found = vectors.get(DENSE) if vectors else None
    return None if found is None else np.asarray(found, dtype=np.float32)
