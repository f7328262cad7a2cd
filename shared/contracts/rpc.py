"""Requests, in the imperative, and their replies."""

from typing import Literal, NamedTuple

from pydantic import Field

from shared.contracts.base import Contract
from shared.prompt.plan import Excerpt, Plan
from shared.prompt.state import Tip

Override = bool | int | float | str


class SearchText(NamedTuple):
    """A text to search with. The last message weighs 1; earlier ones less (retriever profile)."""

    role: str
    text: str


class Assemble(Contract):
    tenant: str
    history: bytes
    """`History.pack()`: some 30 bytes a message, no bodies; tokens as the engine counts them."""
    ratio: float
    """Engine tokens per upper-bound token in this conversation; chunks are counted by the bound."""
    head_tokens: int
    window: int
    """The engine's window, tokens."""
    max_tokens: int | None
    search: tuple[SearchText, ...]
    """Newest first."""
    tip: Tip | None
    carried: int | None = None
    """Engine tokens of the tip's prompt; None where this request does not begin with the bytes that were
    counted, or where a plan that relied on it did not fit."""
    at: float
    wait_for_index: bool
    """Answer with the positions that the store lacks instead of a plan without them."""
    overrides: dict[str, Override] = Field(default_factory=dict)
    """Settings that hold for this request alone (`PLANNED` in shared/overrides.py)."""


class Assembled(Contract):
    plan: Plan | None = None
    missing: tuple[int, ...] = ()
    """Positions whose terms are not in the store yet; then there is no plan."""


class ChunkRef(NamedTuple):
    position: int
    unit: int
    part: int


class Retrieve(Contract):
    tenant: str
    history: bytes
    inside: bytes
    """One bit a position: stands verbatim in the prompt."""
    inside_excerpts: tuple[Excerpt, ...]
    """What stands in the prompt from positions that are not inside."""
    search: tuple[SearchText, ...]
    query_tokens: int
    budget: int
    """Upper-bound tokens to choose for, labels included; 0 ranks only, for the drift check."""
    among_best: int = 0
    """Take only what is among so many best of all, what stands in the prompt included; 0: no limit."""
    must_take: tuple[ChunkRef, ...] = ()
    """Chunks taken for certain: the ones that a drift was found by."""
    index: str
    """Identity of the store that `check_from` and `covered_to` speak of."""
    check_from: int
    """Positions from here on may still be missing from the store."""
    check_to: int
    covered_to: int
    """Every position before this has its vectors."""
    wait_for_index: bool
    overrides: dict[str, Override] = Field(default_factory=dict)
    """As in `Assemble`."""


class Candidate(NamedTuple):
    """One ranked chunk with the parts of its score, for the plan and the record."""

    position: int
    unit: int
    part: int
    start: int
    end: int
    digest: str
    tokens: int
    terms: float
    dense: float
    fused: float
    rerank: float
    score: float
    why: str
    """`relevance`, `must`, `neighbour`, `fill`; for one that was dropped: `budget`, `duplicate`, `rank`."""
    recency: float = 0.0
    role: float = 0.0


class Retrieved(Contract):
    missing: tuple[int, ...] = ()
    chosen: tuple[Candidate, ...] = ()
    dropped: tuple[Candidate, ...] = ()
    """The near misses, best first."""
    best_inside: tuple[ChunkRef, ...] = ()
    best_outside: tuple[ChunkRef, ...] = ()
    index: str = ""
    indexed_to: int = 0
    covered_to: int = 0
    found: int = 0
    """How many chunks of the request matched at all."""
    profile: str = ""
    degraded: tuple[str, ...] = ()


class Rerank(Contract):
    """Score chunks of the request by reference: texts are read from the store, not sent."""

    tenant: str
    history: bytes
    """`History.pack()`; the messages of the chunks are enough."""
    query: str
    chunks: tuple[ChunkRef, ...]
    chars: int
    """Characters of each chunk that are scored."""


class Reranked(Contract):
    scores: tuple[float, ...] = ()
    """In [0, 1], in the order of the chunks; empty where the reranker is down."""
    threshold: float = 0.3
    """Below this a text does not answer; `block_relevance_min`, or the scorer's own."""
    same_text: tuple[bool, ...] = ()
    """Whether a chunk is the query itself; such a chunk counts on neither side."""
    degraded: tuple[str, ...] = ()


class Erase(Contract):
    tenant: str
    session: str


class Receipt(Contract):
    """What an erasure deleted, by store."""

    tenant: str
    session: str
    era: int
    """Number of the erasure."""
    at: float
    """Seconds since the epoch."""
    message_events: int
    chunk_events: int
    records: int
    dead_letters: int
    claims: int
    """Large bodies of these, in the object store."""
    tips: int
    texts: int
    """Messages of the chunk store."""
    chunks: int
    """Of these messages, with their terms and vectors."""
    kept: int
    """Messages that stay because another session said them too, or this one after the erasure began."""


class Failure(Contract):
    """The reply of a handler that raised."""

    kind: Literal["retryable", "permanent", "internal"]
    part: str
    message: str
