"""What recorded requests would find in a scratch store: the assembler and the retriever, in this process."""

from dataclasses import dataclass

from backscroll.replay.compare import Key
from services.assembler.assemble import assemble
from services.assembler.bootstrap import policy_of
from services.gateway.inspector.recorded import Record
from services.retriever.recall import Recall
from services.retriever.rerank import rerank
from shared.contracts.rpc import Assemble, ChunkRef, Rerank, Reranked, Retrieve, Retrieved
from shared.conversation.history import History
from shared.models.port import Embedder, Reranker
from shared.prompt.plan import Excerpt, Plan
from shared.settings import Settings
from shared.store.port import ChunkStore


@dataclass(frozen=True)
class InProcess:
    """What the assembler asks of the retriever, over another store."""

    recall: Recall
    store: ChunkStore
    reranker: Reranker

    async def retrieve(self, request: Retrieve) -> Retrieved:
        return await self.recall.retrieve(request)

    async def rerank(self, request: Assemble, chunks: tuple[ChunkRef, ...], chars: int) -> Reranked:
        query = request.search[0].text if request.search else ""
        asked = Rerank(
            tenant=request.tenant, history=request.history, query=query, chunks=chunks, chars=chars
        )
        return await rerank(asked, self.store, self.reranker)


class Planner:
    def __init__(self, settings: Settings, store: ChunkStore, embedder: Embedder, reranker: Reranker) -> None:
        self._settings = settings
        self._store = store
        self._recall = InProcess(Recall(settings, store, embedder, reranker), store, reranker)

    async def plan(self, asked: Assemble) -> Plan | None:
        """As if no earlier request were known: a block that still stood would need no recall."""
        query = asked.model_copy(update={"tip": None, "wait_for_index": False})
        return (await assemble(query, policy_of(self._settings), self._recall)).plan

    async def indexed(self, asked: Assemble) -> float:
        """Share of the request's messages that the store has."""
        keys = set(History.unpack(asked.history).address_keys.tolist())
        return 1 - len(await self._store.missing(asked.tenant, sorted(keys))) / max(len(keys), 1)


def excerpts_of(asked: Assemble, plan: Plan) -> list[Key]:
    history = History.unpack(asked.history)
    return [_key(history, e) for e in plan.layout.quoted]


def recorded_excerpts(record: Record, asked: Assemble) -> list[Key]:
    history = History.unpack(asked.history)
    return [_key(history, e) for e in record.layout.block]


def _key(history: History, e: Excerpt) -> Key:
    return history.address(e.position).hex(), e.unit, e.start, e.end
