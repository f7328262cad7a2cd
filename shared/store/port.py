"""The chunk store: one port, two adapters (Qdrant server, Qdrant Edge), one contract suite.

A content-addressed set per tenant. Nothing in it depends on where in a conversation a text was said:
positions, turns and recency come from the request that asks (ADR 0001).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from shared.contracts.base import Kind, Role
from shared.contracts.events import Chunk
from shared.text.terms import Terms

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True)
class IndexedMessage:
    """All chunks of one message with their terms, and with their vectors once they are made.

    `terms` and `vectors` are in the order of `chunks`. A message without chunks gets its marker alone.
    """

    address: str
    chunks: tuple[Chunk, ...]
    terms: tuple[Terms, ...]
    vectors: tuple[Vector | None, ...] = ()


@dataclass(frozen=True)
class Origin:
    """Who says a text, for erasure and retention. Decides nothing else."""

    tenant: str
    session: str
    at: float
    era: int = 0
    """Number of the session's last erasure (shared/bus/erased.py)."""


class LightChunk(NamedTuple):
    """The few fields that scoring needs; text and vector are fetched for the chosen only.

    `address` is the low 63 bits of the content address, as `address_key` gives them.
    """

    address: int
    unit: int
    part: int
    start: int
    end: int
    tokens: int
    role: Role
    kind: Kind
    tool: str | None
    digest: str


class Hit(NamedTuple):
    chunk: LightChunk
    score: float


@dataclass(frozen=True)
class Search:
    """One recall over the texts of one request.

    `addresses` are `address_key`s: the only texts that can be found, and the set over which IDF is
    taken. Both searches of a request run as one batch.
    """

    tenant: str
    addresses: Sequence[int]
    terms: Terms
    vector: Vector | None
    limit: int


@dataclass(frozen=True)
class Found:
    by_terms: list[Hit] = field(default_factory=list)
    by_vector: list[Hit] = field(default_factory=list)


class StoredText(NamedTuple):
    text: str
    vector: Vector | None


class Coverage(NamedTuple):
    chunks: int
    with_vector: int


class Forgotten(NamedTuple):
    """How much is gone from the store, and how many messages stay because others said them too."""

    messages: int = 0
    chunks: int = 0
    kept: int = 0


class ChunkStore(Protocol):
    """Every call is filtered by tenant and, where it reads by request, by address, in the query itself.

    Raises `DependencyUnavailable("retriever_unavailable", ...)` where the server does not answer.
    """

    async def ensure(self) -> None:
        """Make collection and indexes, or check them.

        Raises `PermanentFault` naming both numbers when the vector dimension differs.
        """

    async def identity(self, tenant: str) -> str:
        """Another one when the store was made anew or something of the tenant went from it, so that nothing
        is believed to be in it by memory."""

    async def insert_terms(self, origin: Origin, messages: Sequence[IndexedMessage]) -> None:
        """Write text and terms where a point does not exist yet; each message's marker last."""

    async def put_vectors(self, origin: Origin, messages: Sequence[IndexedMessage]) -> None:
        """Write whole points, vectors included, over what is there; each message's marker last."""

    async def missing(self, tenant: str, addresses: Sequence[int]) -> set[int]:
        """Those of the addresses that have no marker."""

    async def coverage(self, tenant: str, addresses: Sequence[int]) -> Coverage:
        """How many chunks these addresses have, and how many of them have a vector."""

    async def search(self, search: Search) -> Found:
        """Best first; ties by (address, unit, part), so that equal stores answer alike."""

    async def chunks(self, tenant: str, addresses: Sequence[int]) -> list[LightChunk]:
        """All chunks of these messages, without text."""

    async def texts(self, tenant: str, keys: Sequence[tuple[int, int, int]]) -> list[StoredText | None]:
        """Text and vector by (address key, unit, part), in the order asked; None where it is not there."""

    async def vectors_by_digest(self, tenant: str, digests: Sequence[str]) -> dict[str, Vector]:
        """Vectors of equal text, so that a text is embedded once per tenant."""

    async def forget(
        self, tenant: str, session: str, before: int, addresses: Sequence[int] = ()
    ) -> Forgotten:
        """What the session said in eras below `before`, and no other session or era did.

        Of `addresses` too, whoever said them: what was written of them while they were forgotten.
        """

    async def expire(self, before: float) -> Forgotten:
        """What nobody, of any tenant, has said since; seconds since the epoch."""

    async def compact(self) -> None:
        """Let the bytes of what is gone leave the disk, where that is in our hands."""

    async def close(self) -> None: ...
