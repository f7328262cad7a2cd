"""A chunk store in memory: brute-force BM25 and cosine, for tests of what is built on the store."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from shared.contracts.events import Chunk
from shared.conversation.address import address_key
from shared.errors import DependencyUnavailable
from shared.store.port import (
    ChunkStore,
    Coverage,
    Forgotten,
    Found,
    Hit,
    IndexedMessage,
    LightChunk,
    Origin,
    Search,
    StoredText,
    Vector,
)
from shared.text.terms import Terms

Key = tuple[int, int, int]


@dataclass
class Point:
    chunk: LightChunk
    text: str
    terms: dict[int, float]
    vector: Vector | None


@dataclass
class MemoryStore(ChunkStore):
    """Set `down` to make every call fail as an unreachable server does; `calls` counts them by name."""

    down: bool = False
    made: str = "memory"
    points: dict[tuple[str, Key], Point] = field(default_factory=dict)
    markers: set[tuple[str, int]] = field(default_factory=set)
    said: dict[tuple[str, int, str, int], float] = field(default_factory=dict)
    """When, by tenant, address, session and era."""
    forgotten: Counter[str] = field(default_factory=Counter)
    """Times that something of a tenant went."""
    calls: Counter[str] = field(default_factory=Counter)

    def _called(self, name: str) -> None:
        self.calls[name] += 1
        if self.down:
            raise DependencyUnavailable("retriever_unavailable", "the store is down")

    async def ensure(self) -> None:
        self._called("ensure")

    async def identity(self, tenant: str) -> str:
        self._called("identity")
        times = self.forgotten[tenant]
        return f"{self.made}/{times}" if times else self.made

    async def insert_terms(self, origin: Origin, messages: Sequence[IndexedMessage]) -> None:
        self._called("insert_terms")
        self._write(origin, messages, replace=False)

    async def put_vectors(self, origin: Origin, messages: Sequence[IndexedMessage]) -> None:
        self._called("put_vectors")
        self._write(origin, messages, replace=True)

    def _write(self, origin: Origin, messages: Sequence[IndexedMessage], *, replace: bool) -> None:
        for message in messages:
            vectors = message.vectors or (None,) * len(message.chunks)
            for chunk, terms, vector in zip(message.chunks, message.terms, vectors, strict=True):
                point = Point(light(chunk), chunk.text, _weights(terms), vector)
                key = (origin.tenant, point.chunk[:3])
                if replace or key not in self.points:
                    self.points[key] = point
            address = address_key(bytes.fromhex(message.address))
            self.markers.add((origin.tenant, address))
            self.said.setdefault((origin.tenant, address, origin.session, origin.era), origin.at)

    async def missing(self, tenant: str, addresses: Sequence[int]) -> set[int]:
        self._called("missing")
        return {a for a in addresses if (tenant, a) not in self.markers}

    async def coverage(self, tenant: str, addresses: Sequence[int]) -> Coverage:
        self._called("coverage")
        points = self._of(tenant, addresses)
        return Coverage(len(points), sum(p.vector is not None for p in points))

    async def search(self, search: Search) -> Found:
        self._called("search")
        points = self._of(search.tenant, search.addresses)
        by_terms = _ranked(points, _bm25(points, _weights(search.terms)), search.limit)
        if search.vector is None:
            return Found(by_terms)
        cosines = {p.chunk[:3]: float(p.vector @ search.vector) for p in points if p.vector is not None}
        return Found(by_terms, _ranked(points, cosines, search.limit))

    async def chunks(self, tenant: str, addresses: Sequence[int]) -> list[LightChunk]:
        self._called("chunks")
        return [p.chunk for p in self._of(tenant, addresses)]

    async def texts(self, tenant: str, keys: Sequence[Key]) -> list[StoredText | None]:
        self._called("texts")
        found = [self.points.get((tenant, key)) for key in keys]
        return [StoredText(p.text, p.vector) if p else None for p in found]

    async def vectors_by_digest(self, tenant: str, digests: Sequence[str]) -> dict[str, Vector]:
        self._called("vectors_by_digest")
        return {
            p.chunk.digest: p.vector
            for (owner, _), p in self.points.items()
            if owner == tenant and p.chunk.digest in digests and p.vector is not None
        }

    async def forget(
        self, tenant: str, session: str, before: int, addresses: Sequence[int] = ()
    ) -> Forgotten:
        self._called("forget")
        unsaid = {k for k in self.said if (k[0], k[2]) == (tenant, session) and k[3] < before}
        return self._drop(unsaid, {(tenant, address) for address in addresses})

    async def expire(self, before: float) -> Forgotten:
        self._called("expire")
        return self._drop({k for k, at in self.said.items() if at < before}, set())

    def _drop(self, unsaid: set[tuple[str, int, str, int]], late: set[tuple[str, int]]) -> Forgotten:
        for key in unsaid:
            del self.said[key]
        still = {key[:2] for key in self.said}
        touched = {key[:2] for key in unsaid}
        gone = (touched | late) - still
        chunks = [key for key in self.points if (key[0], key[1][0]) in gone]
        for key in chunks:
            del self.points[key]
        dropped = len(self.markers & gone)
        self.markers -= gone
        self.forgotten.update({tenant for tenant, _ in gone})
        return Forgotten(dropped, len(chunks), len(touched - gone))

    async def compact(self) -> None:
        self._called("compact")

    async def close(self) -> None: ...

    def _of(self, tenant: str, addresses: Sequence[int]) -> list[Point]:
        wanted = set(addresses)
        return [p for (owner, key), p in self.points.items() if owner == tenant and key[0] in wanted]


def light(chunk: Chunk) -> LightChunk:
    return LightChunk(
        address_key(bytes.fromhex(chunk.address)),
        chunk.unit,
        chunk.part,
        chunk.start,
        chunk.end,
        chunk.tokens,
        chunk.role,
        chunk.kind,
        chunk.tool,
        chunk.digest,
    )


def _weights(terms: Terms) -> dict[int, float]:
    return dict(zip(terms.indices, terms.values, strict=True))


def _bm25(points: list[Point], query: dict[int, float]) -> dict[Key, float]:
    frequency = Counter(term for p in points for term in query.keys() & p.terms.keys())
    count = len(points)
    idf = {term: math.log(1 + (count - n + 0.5) / (n + 0.5)) for term, n in frequency.items()}
    scores = {
        p.chunk[:3]: sum(query[t] * idf[t] * p.terms[t] for t in sorted(query.keys() & p.terms.keys()))
        for p in points
    }
    return {key: score for key, score in scores.items() if score > 0}


def _ranked(points: list[Point], scores: dict[Key, float], limit: int) -> list[Hit]:
    hits = [Hit(p.chunk, scores[p.chunk[:3]]) for p in points if p.chunk[:3] in scores]
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk[:3]))[:limit]
