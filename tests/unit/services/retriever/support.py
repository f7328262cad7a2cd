"""Conversations in the form that the retriever sees them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shared.contracts.base import Kind, Role
from shared.contracts.rpc import Retrieve, SearchText
from shared.conversation.address import address, tenant_key
from shared.conversation.history import History, RoleCode
from shared.models.port import Relevance, Vector
from shared.prompt.plan import Excerpt
from shared.store.port import IndexedMessage, Origin
from shared.text.terms import document_terms
from shared.tokens.estimate import upper_bound
from tests.support.chunks import chunk
from tests.support.memory_store import MemoryStore

TENANT = "acme"
CODES = {"user": RoleCode.USER, "assistant": RoleCode.ASSISTANT, "tool": RoleCode.TOOL}
PART_CHARS = 400


@dataclass
class Talk:
    """Messages as (role, text); one unit each, in parts of 400 characters."""

    messages: list[tuple[str, str]]
    addresses: list[bytes] = field(init=False)

    def __post_init__(self) -> None:
        key = tenant_key(TENANT)
        self.addresses = [address(key, f"{role}\0{text}".encode()) for role, text in self.messages]

    @property
    def history(self) -> History:
        roles = [CODES[role] for role, _ in self.messages]
        turns = np.maximum(np.cumsum([role == RoleCode.USER for role in roles]) - 1, 0)
        count = len(roles)
        return History(
            addresses=b"".join(self.addresses),
            roles=np.array(roles, dtype=np.uint8),
            turns=turns.astype(np.uint32),
            steps=np.zeros(count, dtype=np.uint32),
            units=np.ones(count, dtype=np.uint16),
            tokens=np.array([upper_bound(text) + 8 for _, text in self.messages], dtype=np.uint32),
            least=np.zeros(count, dtype=np.uint32),
        )

    def indexed(self, position: int, vector: Vector | None = None) -> IndexedMessage:
        role, text = self.messages[position]
        chunks = tuple(
            chunk(
                cut := text[start : start + PART_CHARS],
                self.addresses[position].hex(),
                part=part,
                start=start,
                role=Role(role),
                kind=Kind.USER if role == "user" else Kind.ANSWER,
                tokens=upper_bound(cut),
            )
            for part, start in enumerate(range(0, len(text), PART_CHARS))
        )
        terms = tuple(document_terms(c.text) for c in chunks)
        return IndexedMessage(self.addresses[position].hex(), chunks, terms, (vector,) * len(chunks))

    async def store_in(self, store: MemoryStore, positions: Sequence[int] | None = None) -> None:
        wanted = range(len(self.messages) - 1) if positions is None else positions
        await store.insert_terms(Origin(TENANT, "s", 0.0), [self.indexed(p) for p in wanted])

    def ask(
        self,
        *,
        window: int | None = None,
        budget: int = 400,
        excerpts: tuple[Excerpt, ...] = (),
        **fields: object,
    ) -> Retrieve:
        """A request whose window starts at a position; by default it is the last message alone."""
        count = len(self.messages)
        window = count - 1 if window is None else window
        values: dict[str, object] = {
            "tenant": TENANT,
            "history": self.history.pack(),
            "inside": np.packbits(np.arange(count) >= window).tobytes(),
            "inside_excerpts": excerpts,
            "search": tuple(SearchText(role, text) for role, text in reversed(self.messages[-6:])),
            "query_tokens": 256,
            "budget": budget,
            "index": "memory",
            "check_from": 0,
            "check_to": window,
            "covered_to": 0,
            "wait_for_index": False,
        }
        return Retrieve.model_validate(values | fields)


@dataclass
class FakeEmbedder:
    """Vectors by text; `fails` is raised instead, `calls` counts."""

    vectors: dict[str, Vector] = field(default_factory=dict)
    fails: Exception | None = None
    calls: int = 0
    name: str = "fake"
    dim: int = 4
    batch: int = 8
    batch_tokens: int = 8192

    async def passages(self, texts: Sequence[str]) -> list[Vector]:
        return [self.vectors[text] for text in texts]

    async def query(self, text: str) -> Vector:
        self.calls += 1
        if self.fails:
            raise self.fails
        return self.vectors.get(text, np.ones(self.dim, dtype=np.float32) / 2)

    async def close(self) -> None: ...


@dataclass
class FakeReranker:
    """Scores texts that contain one of `answers` .9, others .01."""

    answers: tuple[str, ...] = ()
    ranks: bool = True
    fails: Exception | None = None
    seen: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    async def score(self, tenant: str, query: str, texts: Sequence[str]) -> Relevance:
        self.seen.append((query, tuple(texts)))
        if self.fails:
            raise self.fails
        scores = tuple(0.9 if any(a in text for a in self.answers) else 0.01 for text in texts)
        return Relevance(scores, threshold=0.4)

    async def close(self) -> None: ...
