"""Requests of Qdrant's REST API in the terms of Qdrant Edge; what is not understood is refused."""

from typing import Any

import qdrant_edge as edge
from qdrant_client import models


class Refused(Exception):
    """Becomes an answer with that status."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def shard_config(asked: models.CreateCollection) -> edge.EdgeConfig:
    if not isinstance(asked.vectors, dict):
        raise Refused(400, "named vectors only")
    distances = {models.Distance.COSINE: edge.Distance.Cosine, models.Distance.DOT: edge.Distance.Dot}
    return edge.EdgeConfig(
        vectors={
            name: edge.EdgeVectorParams(size=v.size, distance=distances[v.distance])
            for name, v in asked.vectors.items()
        },
        sparse_vectors={
            name: edge.EdgeSparseVectorParams(
                modifier=edge.Modifier.Idf if v.modifier is models.Modifier.IDF else None
            )
            for name, v in (asked.sparse_vectors or {}).items()
        },
    )


def schema_name(data_type: edge.PayloadSchemaType) -> str:
    return str(data_type).rsplit(".", 1)[-1].lower()


def field_index(schema: Any) -> Any:
    match schema:
        case models.KeywordIndexParams():
            return edge.KeywordIndexParams(is_tenant=schema.is_tenant)
        case models.IntegerIndexParams():
            return edge.IntegerIndexParams(lookup=schema.lookup, range=schema.range)
        case models.FloatIndexParams():
            return edge.FloatIndexParams()
    raise Refused(400, f"index {schema!r}")


def edge_filter(asked: models.Filter | None) -> edge.Filter | None:
    if asked is None:
        return None
    if asked.should or asked.must_not or asked.min_should or not isinstance(asked.must, list):
        raise Refused(400, "`must` only")
    return edge.Filter(must=[edge_condition(c) for c in asked.must])


def edge_condition(asked: Any) -> Any:
    match asked:
        case models.FieldCondition(key=key, match=models.MatchValue(value=value)):
            return edge.FieldCondition(key, match=edge.MatchValue(value))
        case models.FieldCondition(key=key, match=models.MatchAny(any=values)):
            return edge.FieldCondition(key, match=edge.MatchAny(values))
        case models.FieldCondition(key=key, range=models.Range(lt=below)) if below is not None:
            return edge.FieldCondition(key, range=edge.RangeFloat(lt=below))
        case models.HasIdCondition(has_id=ids):
            return edge.HasIdCondition(set(ids))
        case models.HasVectorCondition(has_vector=name):
            return edge.HasVectorCondition(name)
    raise Refused(400, f"condition {asked!r}")


def edge_query(asked: models.QueryRequest) -> edge.QueryRequest:
    vector = asked.query.nearest if isinstance(asked.query, models.NearestQuery) else asked.query
    if isinstance(vector, models.SparseVector):
        vector = edge.SparseVector(vector.indices, vector.values)
    elif not isinstance(vector, list):
        raise Refused(400, f"query {asked.query!r}")
    if asked.prefetch:
        raise Refused(400, "prefetch")
    return edge.QueryRequest(
        limit=asked.limit or 10,
        query=edge.Query.Nearest(vector, using=asked.using),
        filter=edge_filter(asked.filter),
        with_payload=asked.with_payload,
        params=search_params(asked.params),
    )


def search_params(asked: models.SearchParams | None) -> edge.SearchParams | None:
    if asked is None:
        return None
    if not isinstance(asked.idf, models.IdfCorpusParams):
        raise Refused(400, f"params {asked!r}")
    return edge.SearchParams(idf=edge.IdfParams(corpus=edge_filter(asked.idf.corpus)))


def edge_vectors(asked: Any) -> dict[str, Any]:
    if not isinstance(asked, dict):
        raise Refused(400, "named vectors only")
    return {
        name: edge.SparseVector(v.indices, v.values) if isinstance(v, models.SparseVector) else v
        for name, v in asked.items()
    }


def plain_vectors(vectors: Any) -> dict[str, Any] | None:
    if not vectors:
        return None
    return {
        name: {"indices": v.indices, "values": v.values} if isinstance(v, edge.SparseVector) else v
        for name, v in vectors.items()
    }
