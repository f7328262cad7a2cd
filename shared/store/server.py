"""The chunk store on a Qdrant server, over REST."""

from collections.abc import Awaitable
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from shared.errors import DependencyUnavailable, PermanentFault
from shared.store.mapping import DENSE, LIGHT, TERMS, Point, Row, Where, light_chunk
from shared.store.points import PointStore
from shared.store.port import Hit, Vector
from shared.text.terms import Terms

T = TypeVar("T")

# Graph links within a tenant only: every search filters by it.
INDEXES: dict[str, Any] = {
    "tenant": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    "address": models.IntegerIndexParams(
        type=models.IntegerIndexType.INTEGER, lookup=True, range=False, enable_hnsw=False
    ),
    "form": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, enable_hnsw=False),
    "digest": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, enable_hnsw=False),
    "session": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, enable_hnsw=False),
    "era": models.IntegerIndexParams(
        type=models.IntegerIndexType.INTEGER, lookup=False, range=True, enable_hnsw=False
    ),
    "at": models.FloatIndexParams(type=models.FloatIndexType.FLOAT, enable_hnsw=False),
}
REFUSED = {400, 413, 422}
"""The request itself is wrong and will be refused again; everything else can pass."""


class ServerStore(PointStore):
    """One collection. Works on the client's local mode too; closes the client it was given."""

    def __init__(self, client: AsyncQdrantClient, name: str, dim: int) -> None:
        super().__init__(name, dim)
        self._client = client

    async def ensure(self) -> None:
        if not await _ask(self._client.collection_exists(self.name)):
            await self._create()
        info = await _ask(self._client.get_collection(self.name))
        there = _dim(info)
        if there != self.dim:
            raise PermanentFault(
                f"collection {self.name} was made for dimension {there}, the model gives {self.dim}"
            )
        for field, params in INDEXES.items():
            if field not in info.payload_schema:
                await _ask(self._client.create_payload_index(self.name, field, params, wait=True))

    async def close(self) -> None:
        await self._client.close()

    async def compact(self) -> None:
        """The server's own optimizer does: it rewrites a segment of which enough is gone."""

    async def _create(self) -> None:
        try:
            await self._client.create_collection(
                self.name,
                vectors_config={DENSE: models.VectorParams(size=self.dim, distance=models.Distance.COSINE)},
                sparse_vectors_config={TERMS: models.SparseVectorParams(modifier=models.Modifier.IDF)},
                hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
            )
        except (ApiException, QdrantException) as e:
            # Another replica was quicker; versions of the server say that with different codes.
            if not await _ask(self._client.collection_exists(self.name)):
                raise _fault(e) from e

    async def _upsert(self, points: list[Point], insert_only: bool) -> None:
        mode = models.UpdateMode.INSERT_ONLY if insert_only else models.UpdateMode.UPSERT
        result = await _ask(
            self._client.upsert(self.name, [_point(p) for p in points], wait=True, update_mode=mode)
        )
        if result.status is not models.UpdateStatus.COMPLETED:
            raise DependencyUnavailable("retriever_unavailable", f"Qdrant only {result.status} a write")

    async def _delete(self, where: Where) -> None:
        selector = models.FilterSelector(filter=_filter(where))
        result = await _ask(self._client.delete(self.name, selector, wait=True))
        if result.status is not models.UpdateStatus.COMPLETED:
            raise DependencyUnavailable("retriever_unavailable", f"Qdrant only {result.status} a deletion")

    async def _count(self, where: Where) -> int:
        answer = await _ask(self._client.count(self.name, count_filter=_filter(where), exact=True))
        return answer.count

    async def _page(
        self, where: Where, fields: list[str], vectors: bool, limit: int, offset: UUID | str | int | None
    ) -> tuple[list[Row], UUID | str | int | None]:
        records, after = await _ask(
            self._client.scroll(
                self.name,
                scroll_filter=_filter(where),
                limit=limit,
                offset=offset,
                with_payload=fields,
                with_vectors=[DENSE] if vectors else False,
            )
        )
        return [Row(r.payload or {}, _dense(r.vector)) for r in records], after

    async def _nearest(
        self, where: Where, terms: Terms | None, vector: Vector | None, limit: int
    ) -> tuple[list[Hit], list[Hit]]:
        scope = _filter(where)
        requests = []
        if terms is not None:
            params = models.SearchParams(idf=models.IdfCorpusParams(corpus=scope))
            requests.append(_request(_sparse(terms), TERMS, scope, limit, params))
        if vector is not None:
            requests.append(_request(vector.tolist(), DENSE, scope, limit, None))
        answers = iter(await _ask(self._client.query_batch_points(self.name, requests)))
        by_terms = _scored(next(answers).points) if terms is not None else []
        by_vector = _scored(next(answers).points) if vector is not None else []
        return by_terms, by_vector


async def collections_of(client: AsyncQdrantClient) -> dict[str, int]:
    """The dimensions of those that hold chunks, by their names."""
    names = [each.name for each in (await _ask(client.get_collections())).collections]
    found = {name: _dim(await _ask(client.get_collection(name))) for name in sorted(names)}
    return {name: dim for name, dim in found.items() if dim is not None}


def _dim(info: models.CollectionInfo) -> int | None:
    vectors = info.config.params.vectors
    return vectors[DENSE].size if isinstance(vectors, dict) and DENSE in vectors else None


async def _ask(call: Awaitable[T]) -> T:
    try:
        return await call
    except (ApiException, QdrantException) as e:
        raise _fault(e) from e


def _fault(e: Exception) -> DependencyUnavailable | PermanentFault:
    if isinstance(e, UnexpectedResponse) and e.status_code in REFUSED:
        return PermanentFault(f"Qdrant refused the request: {e}")
    cause = getattr(e, "source", e)
    return DependencyUnavailable("retriever_unavailable", f"Qdrant: {type(cause).__name__} {cause}")


def _filter(where: Where) -> models.Filter:
    must: list[Any] = []
    if where.tenant is not None:
        must.append(models.FieldCondition(key="tenant", match=models.MatchValue(value=where.tenant)))
    if where.addresses is not None:
        must.append(models.FieldCondition(key="address", match=models.MatchAny(any=list(where.addresses))))
    if where.digests is not None:
        must.append(models.FieldCondition(key="digest", match=models.MatchAny(any=list(where.digests))))
    if where.ids is not None:
        must.append(models.HasIdCondition(has_id=list(map(str, where.ids))))
    if where.form is not None:
        must.append(models.FieldCondition(key="form", match=models.MatchValue(value=where.form)))
    if where.has_vector:
        must.append(models.HasVectorCondition(has_vector=DENSE))
    if where.session is not None:
        must.append(models.FieldCondition(key="session", match=models.MatchValue(value=where.session)))
    if where.era_below is not None:
        must.append(models.FieldCondition(key="era", range=models.Range(lt=where.era_below)))
    if where.said_before is not None:
        must.append(models.FieldCondition(key="at", range=models.Range(lt=where.said_before)))
    return models.Filter(must=must)


def _request(
    query: Any, using: str, scope: models.Filter, limit: int, params: models.SearchParams | None
) -> models.QueryRequest:
    return models.QueryRequest(
        query=query, using=using, filter=scope, limit=limit, with_payload=LIGHT, params=params
    )


def _point(point: Point) -> models.PointStruct:
    vectors: dict[str, Any] = {}
    if point.terms is not None:
        vectors[TERMS] = _sparse(point.terms)
    if point.vector is not None:
        vectors[DENSE] = point.vector.tolist()
    return models.PointStruct(id=str(point.id), vector=vectors, payload=point.payload)


def _sparse(terms: Terms) -> models.SparseVector:
    return models.SparseVector(indices=list(terms.indices), values=list(terms.values))


def _dense(vectors: Any) -> Vector | None:
    found = vectors.get(DENSE) if vectors else None
    return None if found is None else np.asarray(found, dtype=np.float32)


def _scored(points: list[models.ScoredPoint]) -> list[Hit]:
    return [Hit(light_chunk(p.payload or {}), p.score) for p in points]
