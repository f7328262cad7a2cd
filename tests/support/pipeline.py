"""The gateway's preparation with the other services in process: real decisions, no bus, no HTTP.

The engine is the demo engine's own: its tokenizer counts, and it refuses what a strict one refuses.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import orjson

from backscroll.engine import Engine
from services.assembler.assemble import assemble
from services.assembler.case import Policy as AssemblerPolicy
from services.chunker.chunk import Limits as ChunkLimits
from services.chunker.chunk import chunk_message
from services.gateway.dialects import chat
from services.gateway.dialects.base import Dialect
from services.gateway.prepare.prepared import Policy, Prepared
from services.gateway.prepare.preparer import Preparer
from services.gateway.prepare.templates import LENIENT, Template
from services.gateway.prepare.tips import Tips
from services.gateway.reading.request import Reader, Request
from services.retriever.recall import Recall
from services.retriever.rerank import rerank
from shared.contracts.base import Contract
from shared.contracts.events import MessagesRecorded
from shared.contracts.rpc import Assemble, Assembled, ChunkRef, Rerank, Reranked, Retrieve, Retrieved
from shared.conversation.facts import FactsCache, Weights
from shared.errors import DependencyUnavailable
from shared.prompt.budget import limits_of
from shared.prompt.toolresult import ToolPolicies
from shared.settings import Settings
from shared.store.port import IndexedMessage, Origin
from shared.text.terms import document_terms
from shared.tokens.estimate import Coefficients
from shared.tokens.prompt import Prompt
from tests.support.as_chat import as_chat
from tests.support.hashing import HashingEmbedder, LexicalReranker
from tests.support.memory_store import MemoryStore

COEFFICIENTS = Coefficients()


@dataclass
class MemoryState:
    values: dict[str, bytes] = field(default_factory=dict)
    eras: Counter[tuple[str, str]] = field(default_factory=Counter)
    down: bool = False

    async def era(self, tenant: str, session: str) -> int:
        self._check()
        return self.eras[tenant, session]

    async def put(self, key: str, value: bytes) -> None:
        self._check()
        self.values[key] = value

    async def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        self._check()
        return {key: self.values[key] for key in keys if key in self.values}

    def _check(self) -> None:
        if self.down:
            raise DependencyUnavailable("bus_unavailable", "down")


@dataclass
class DirectRecall:
    """What the assembler asks of the retriever, asked directly."""

    retriever: Recall
    store: MemoryStore
    reranker: LexicalReranker

    async def retrieve(self, request: Retrieve) -> Retrieved:
        return await self.retriever.retrieve(request)

    async def rerank(self, request: Assemble, chunks: tuple[ChunkRef, ...], chars: int) -> Reranked:
        query = request.search[0].text if request.search else ""
        asked = Rerank(
            tenant=request.tenant, history=request.history, query=query, chunks=chunks, chars=chars
        )
        return await rerank(asked, self.store, self.reranker)


class DirectBus:
    """Publishing chunks and stores at once; the assembler is called in process."""

    def __init__(self, settings: Settings) -> None:
        self.store = MemoryStore()
        self.reranker = LexicalReranker()
        self.published: list[MessagesRecorded] = []
        self.plans: list[Assembled] = []
        self.assembler_down = False
        self.lossy = False
        self._limits = ChunkLimits(settings.chunk_tokens, settings.chars_per_token, COEFFICIENTS)
        self._policy = AssemblerPolicy(
            limits=limits_of(settings),
            assembly_ttl_s=settings.assembly_ttl_s,
            drift_mode=settings.drift_mode,
            block_drift_rebuild=settings.block_drift_rebuild,
            block_check_docs=settings.block_check_docs,
            block_check_chars=settings.block_check_chars,
        )
        recall = Recall(settings, self.store, HashingEmbedder(), self.reranker)
        self._recall = DirectRecall(recall, self.store, self.reranker)

    async def publish_many(self, events: Iterable[Contract]) -> None:
        for event in events:
            assert isinstance(event, MessagesRecorded)
            self.published.append(event)
            if self.lossy:
                continue
            indexed = []
            for message in event.messages:
                chunks = chunk_message(message, self._limits)
                terms = tuple(document_terms(c.text) for c in chunks)
                indexed.append(IndexedMessage(message.address, chunks, terms))
            await self.store.insert_terms(Origin(event.tenant, event.session, event.at, event.era), indexed)

    async def call(self, _method: object, request: Assemble, *, timeout_s: float) -> Assembled:
        if self.assembler_down:
            raise DependencyUnavailable("assembler_unavailable", "down")
        # Through JSON, as over the bus.
        reply = await assemble(
            Assemble.model_validate_json(request.model_dump_json()), self._policy, self._recall
        )
        self.plans.append(reply)
        return Assembled.model_validate_json(reply.model_dump_json())


@dataclass
class DirectCounter:
    """The engine's own count, without HTTP; `blind` engines have no tokenizer."""

    engine: Engine
    blind: bool = False
    down: bool = False
    counted: int = 0

    generation: int = 0

    async def count(self, prompt: Prompt) -> int | None:
        if self.down:
            raise DependencyUnavailable("count_estimated", "down")
        if self.blind:
            return None
        self.counted += 1
        chats = prompt.dialect == chat.NAME
        read = [orjson.loads(m) for m in prompt.messages] if chats else as_chat(prompt.messages)
        body: dict[str, Any] = {"messages": read}
        if "tools" in prompt.fields:
            body["tools"] = orjson.loads(prompt.fields["tools"])
        return len(self.engine.count(body))

    async def window(self, model: str) -> int | None:
        return self.engine.window


class Pipeline:
    """Clients' requests in, prompts out; the clock moves a second a request."""

    def __init__(
        self,
        window: int,
        tenant: str = "default",
        template: Template = LENIENT,
        dialect: Dialect = chat,
        tools: ToolPolicies = MappingProxyType({}),
        **changed: Any,
    ) -> None:
        self.settings = Settings(max_context=window, embed_wait_s=0.05, **changed)
        self.engine = Engine(window, keep_seen=100_000)
        self.counter = DirectCounter(self.engine)
        self.bus = DirectBus(self.settings)
        self.state = MemoryState()
        self.tenant = tenant
        self.template = template
        self.tools = tools
        self.dialect = dialect
        self.now = 1_000_000.0
        self.restart()

    def restart(self) -> None:
        """A gateway that remembers nothing itself."""
        policy = Policy(
            limits=limits_of(self.settings),
            coefficients=COEFFICIENTS,
            max_context=self.settings.max_context,
            publish_from=self.settings.publish_from,
            embed_wait_s=self.settings.embed_wait_s,
            assemble_timeout_s=self.settings.assemble_timeout_s,
            clamp_margin_tokens=self.settings.clamp_margin_tokens,
            clamp_margin_div=self.settings.clamp_margin_div,
            template=self.template,
            tools=self.tools,
        )
        tips = Tips(self.state, self.state, self.settings.max_sessions)  # type: ignore[arg-type]
        self.preparer = Preparer(self.bus, tips, self.counter, policy, self._clock)  # type: ignore[arg-type]
        weights = Weights(COEFFICIENTS, self.settings.msg_overhead_tokens)
        self.reader = Reader(
            self.tenant, weights, self.settings.image_tokens, FactsCache(), self.settings.max_messages
        )

    def _clock(self) -> float:
        self.now += 0.01
        return self.now

    async def prepare(self, messages: list[dict[str, Any]], session: str = "s", **fields: Any) -> Prepared:
        """Raises what the gateway would answer with an error."""
        self.now += 1.0
        prepared = await self.preparer.prepare(self.request(messages, **fields), session)
        await self.preparer.settle()
        return prepared

    def request(self, messages: list[dict[str, Any]], **fields: Any) -> Request:
        raw = orjson.dumps({"model": "demo", self.dialect.ITEMS: messages, **fields})
        return Request(raw, self.reader, self.dialect)

    async def ask(self, messages: list[dict[str, Any]], session: str = "s", **fields: Any) -> Prepared:
        """Prepare and let the engine answer, which speaks chat; raises `Refusal` where it refuses."""
        prepared = await self.prepare(messages, session, **fields)
        self.engine.complete(orjson.loads(prepared.body))
        return prepared


def sent(prepared: Prepared, items: str = "messages") -> list[dict[str, Any]]:
    """The messages that the engine got."""
    messages: list[dict[str, Any]] = orjson.loads(prepared.body)[items]
    return messages
