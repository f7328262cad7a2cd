"""What the assembler asks of the retriever."""

from dataclasses import dataclass
from typing import Protocol

from shared.bus import RERANK, RETRIEVE, Bus
from shared.contracts.rpc import Assemble, ChunkRef, Rerank, Reranked, Retrieve, Retrieved


class Recall(Protocol):
    """Both raise `DependencyUnavailable("retriever_unavailable", ...)`."""

    async def retrieve(self, request: Retrieve) -> Retrieved: ...

    async def rerank(self, request: Assemble, chunks: tuple[ChunkRef, ...], chars: int) -> Reranked: ...


@dataclass(frozen=True)
class BusRecall:
    bus: Bus
    timeout_s: float

    async def retrieve(self, request: Retrieve) -> Retrieved:
        return await self.bus.call(RETRIEVE, request, timeout_s=self.timeout_s)

    async def rerank(self, request: Assemble, chunks: tuple[ChunkRef, ...], chars: int) -> Reranked:
        if not chunks:
            return Reranked()
        query = request.search[0].text if request.search else ""
        wanted = Rerank(
            tenant=request.tenant, history=request.history, query=query, chunks=chunks, chars=chars
        )
        return await self.bus.call(RERANK, wanted, timeout_s=self.timeout_s)
