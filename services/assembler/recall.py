"""What the assembler asks of the retriever."""

from dataclasses import dataclass
from typing import Protocol

from shared.bus import RERANK, RETRIEVE, Bus
from shared.contracts.rpc import Assemble, ChunkRef, Rerank, Reranked, Retrieve, Retrieved
from shared.conversation.history import RECORD


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
        history, refs = only(request.history, chunks)
        wanted = Rerank(tenant=request.tenant, history=history, query=query, chunks=refs, chars=chars)
        return await self.bus.call(RERANK, wanted, timeout_s=self.timeout_s)


def only(history: bytes, chunks: tuple[ChunkRef, ...]) -> tuple[bytes, tuple[ChunkRef, ...]]:
    """The messages of the chunks alone, and the chunks by their positions among those.

    A packed history of 10,000 messages takes 3 ms to compress and read; a hundred of them nothing.
    """
    places = {position: n for n, position in enumerate(dict.fromkeys(c.position for c in chunks))}
    width = RECORD.itemsize
    packed = b"".join(history[position * width : (position + 1) * width] for position in places)
    return packed, tuple(c._replace(position=places[c.position]) for c in chunks)
