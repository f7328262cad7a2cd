"""The part of Qdrant's REST API that the store speaks, served from Qdrant Edge shards.

For tests where no Qdrant server can be had. Whatever the store does not use is refused with 400, so that a
new kind of request is noticed here instead of being half understood.
"""

import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import qdrant_edge as edge
import uvicorn
from pydantic import ValidationError
from qdrant_client import models
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.support.qdrant_to_edge import (
    Refused,
    edge_filter,
    edge_query,
    edge_vectors,
    field_index,
    plain_vectors,
    schema_name,
    shard_config,
)

MAX_BODY = 32 * 1024**2
"""What a server takes by default."""


class QdrantOverEdge:
    """Collections by name, each an Edge shard under `directory`.

    `fail_with` is a status that every request gets from now on; `requests` counts them.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.fail_with: int | None = None
        self.requests = 0
        self._shards: dict[str, edge.EdgeShard] = {}
        self._params: dict[str, models.CreateCollection] = {}
        self._creating = threading.Lock()

    def app(self) -> Starlette:
        collection = "/collections/{name}"
        return Starlette(
            routes=[
                Route("/collections", self._route(self.names), methods=["GET"]),
                Route(f"{collection}/exists", self._route(self.exists), methods=["GET"]),
                Route(collection, self._route(self.create), methods=["PUT"]),
                Route(collection, self._route(self.info), methods=["GET"]),
                Route(f"{collection}/index", self._route(self.index), methods=["PUT"]),
                Route(f"{collection}/points", self._route(self.upsert), methods=["PUT"]),
                Route(f"{collection}/points/delete", self._route(self.delete), methods=["POST"]),
                Route(f"{collection}/points/count", self._route(self.count), methods=["POST"]),
                Route(f"{collection}/points/scroll", self._route(self.scroll), methods=["POST"]),
                Route(f"{collection}/points/query/batch", self._route(self.query), methods=["POST"]),
            ]
        )

    def close(self) -> None:
        for shard in self._shards.values():
            shard.close()

    def _route(self, handle: Callable[[str, bytes, bool], Any]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            self.requests += 1
            body = await request.body()
            try:
                if self.fail_with is not None:
                    raise Refused(self.fail_with, "told to fail")
                if len(body) > MAX_BODY:
                    raise Refused(413, "body too large")
                wait = request.query_params.get("wait") == "true"
                result = await run_in_threadpool(handle, request.path_params.get("name", ""), body, wait)
            except Refused as e:
                return _json({"status": {"error": str(e)}, "time": 0.0}, e.status)
            except ValidationError as e:
                return _json({"status": {"error": str(e)}, "time": 0.0}, 400)
            except Exception as e:  # Edge raises nothing narrower
                return _json({"status": {"error": str(e)}, "time": 0.0}, 400)
            return _json({"result": result, "status": "ok", "time": 0.0}, 200)

        return answer

    def _shard(self, name: str) -> edge.EdgeShard:
        if name not in self._shards:
            raise Refused(404, f"Collection `{name}` doesn't exist!")
        return self._shards[name]

    def names(self, name: str, body: bytes, wait: bool) -> dict[str, Any]:
        return {"collections": [{"name": each} for each in self._shards]}

    def exists(self, name: str, body: bytes, wait: bool) -> dict[str, bool]:
        return {"exists": name in self._shards}

    def create(self, name: str, body: bytes, wait: bool) -> bool:
        asked = models.CreateCollection.model_validate_json(body)
        with self._creating:
            if name in self._shards:
                raise Refused(409, f"Collection `{name}` already exists!")
            path = self.directory / name
            path.mkdir(parents=True)
            self._params[name] = asked
            self._shards[name] = edge.EdgeShard.create(str(path), shard_config(asked))
        return True

    def info(self, name: str, body: bytes, wait: bool) -> dict[str, Any]:
        info = self._shard(name).info()
        asked = self._params[name].model_dump(mode="json", exclude_none=True)
        return {
            "status": "green",
            "optimizer_status": "ok",
            "segments_count": info.segments_count,
            "points_count": info.points_count,
            "config": {
                "params": {"vectors": asked["vectors"], "sparse_vectors": asked["sparse_vectors"]},
                "hnsw_config": {"m": 0, "ef_construct": 100, "full_scan_threshold": 10_000},
                "optimizer_config": {
                    "deleted_threshold": 0.2,
                    "vacuum_min_vector_number": 1000,
                    "default_segment_number": 0,
                    "flush_interval_sec": 5,
                },
            },
            "payload_schema": {
                field: {"data_type": schema_name(index.data_type), "points": index.points}
                for field, index in info.payload_schema.items()
            },
        }

    def index(self, name: str, body: bytes, wait: bool) -> dict[str, Any]:
        asked = models.CreateFieldIndex.model_validate_json(body)
        schema = field_index(asked.field_schema)
        shard = self._shard(name)
        # Two services ask for it at their start. A server leaves an index that is there alone; Edge would
        # build it anew, without what is written meanwhile.
        with self._creating:
            if asked.field_name not in shard.info().payload_schema:
                shard.update(edge.UpdateOperation.create_field_index(asked.field_name, schema))
        return _done(wait)

    def upsert(self, name: str, body: bytes, wait: bool) -> dict[str, Any]:
        asked = models.PointsList.model_validate_json(body)
        mode = {
            models.UpdateMode.INSERT_ONLY: edge.UpdateMode.InsertOnly,
            models.UpdateMode.UPSERT: edge.UpdateMode.Upsert,
            None: edge.UpdateMode.Upsert,
        }[asked.update_mode]
        points = [edge.Point(id=p.id, vector=edge_vectors(p.vector), payload=p.payload) for p in asked.points]
        self._shard(name).update(edge.UpdateOperation.upsert_points(points, update_mode=mode))
        return _done(wait)

    def delete(self, name: str, body: bytes, wait: bool) -> dict[str, Any]:
        chosen = edge_filter(models.FilterSelector.model_validate_json(body).filter)
        if chosen is None or not chosen.must:
            raise Refused(400, "a filter is needed")
        self._shard(name).update(edge.UpdateOperation.delete_points_by_filter(chosen))
        return _done(wait)

    def count(self, name: str, body: bytes, wait: bool) -> dict[str, int]:
        asked = models.CountRequest.model_validate_json(body)
        request = edge.CountRequest(filter=edge_filter(asked.filter), exact=bool(asked.exact))
        return {"count": self._shard(name).count(request)}

    def scroll(self, name: str, body: bytes, wait: bool) -> dict[str, Any]:
        asked = models.ScrollRequest.model_validate_json(body)
        records, after = self._shard(name).scroll(
            edge.ScrollRequest(
                offset=asked.offset,
                limit=asked.limit,
                filter=edge_filter(asked.filter),
                with_payload=asked.with_payload,
                with_vector=asked.with_vector,
            )
        )
        points = [{"id": str(r.id), "payload": r.payload, "vector": plain_vectors(r.vector)} for r in records]
        return {"points": points, "next_page_offset": None if after is None else str(after)}

    def query(self, name: str, body: bytes, wait: bool) -> list[dict[str, Any]]:
        asked = models.QueryRequestBatch.model_validate_json(body)
        answers = self._shard(name).query_batch(
            edge.QueryBatchRequest([edge_query(q) for q in asked.searches])
        )
        return [
            {
                "points": [
                    {"id": str(p.id), "version": 0, "score": p.score, "payload": p.payload} for p in points
                ]
            }
            for points in answers
        ]


@contextmanager
def serve_qdrant(directory: Path) -> Iterator[tuple[str, QdrantOverEdge]]:
    """A URL for `AsyncQdrantClient(url=...)`, and what answers there."""
    qdrant = QdrantOverEdge(directory)
    server = uvicorn.Server(uvicorn.Config(qdrant.app(), port=0, log_level="warning", lifespan="off"))
    ready = threading.Event()
    server_startup = server.startup

    async def startup(sockets: Any = None) -> None:
        await server_startup(sockets=sockets)
        ready.set()

    server.startup = startup  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        if not ready.wait(10):
            raise TimeoutError("uvicorn did not start")
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}", qdrant
    finally:
        server.should_exit = True
        thread.join(10)
        qdrant.close()


def _json(content: Any, status: int) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json")


def _done(wait: bool) -> dict[str, Any]:
    return {"operation_id": 0, "status": "completed" if wait else "acknowledged"}
