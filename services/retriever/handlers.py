"""The two methods that the retriever answers."""

import time
from dataclasses import dataclass

import structlog

from services.retriever.recall import Recall
from services.retriever.rerank import rerank
from shared.contracts.rpc import Rerank, Reranked, Retrieve, Retrieved
from shared.models.port import Reranker
from shared.store.port import ChunkStore
from shared.telemetry import EMPTY_RECALLS, RECALLED, RERANK_SECONDS

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Handlers:
    recall: Recall
    store: ChunkStore
    reranker: Reranker

    async def retrieve(self, request: Retrieve) -> Retrieved:
        started = time.perf_counter()
        found = await self.recall.retrieve(request)
        if request.budget and not found.missing:
            RECALLED.labels("found").observe(found.found)
            RECALLED.labels("chosen").observe(len(found.chosen))
            if not found.chosen:
                EMPTY_RECALLS.labels("all_filtered" if found.found else "none_found").inc()
        log.info(
            "retrieved",
            profile=found.profile,
            found=found.found,
            chosen=len(found.chosen),
            missing=len(found.missing),
            degraded=found.degraded,
            seconds=round(time.perf_counter() - started, 4),
        )
        return found

    async def rerank(self, request: Rerank) -> Reranked:
        started = time.perf_counter()
        with RERANK_SECONDS.time():
            reply = await rerank(request, self.store, self.reranker)
        log.info(
            "reranked",
            chunks=len(request.chunks),
            degraded=reply.degraded,
            seconds=round(time.perf_counter() - started, 4),
        )
        return reply
