"""What is written for a message, and how it is read back: pure, and the same for every adapter.

A point is a chunk, a message's marker, or says who said a message (ADR 0017). Ids are UUIDv5 over tenant,
address, unit and part, so that writing twice writes the same. The address enters by its key, as every read
names it: texts can then be fetched by id instead of being searched for.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from uuid import UUID, uuid4, uuid5

from shared.contracts.base import Kind, Role
from shared.contracts.events import Chunk
from shared.conversation.address import address_key
from shared.store.port import IndexedMessage, LightChunk, Origin, Vector
from shared.text.terms import Terms

DENSE = "dense"
TERMS = "terms"
NAMESPACE = UUID("8f0d6f8c-3a1e-5d0b-9d43-6f0a5be1c7a2")

LIGHT = ["address", "unit", "part", "start", "end", "tokens", "role", "kind", "tool", "digest"]
KEY = ["address", "unit", "part"]
CHUNK = [
    "content_address",
    "unit",
    "part",
    "start",
    "end",
    "role",
    "kind",
    "tool",
    "tokens",
    "text",
    "digest",
]
"""All that a `Chunk` is made of again."""

MAX_BATCH_BYTES = 16 * 1024**2
"""A Qdrant server refuses bodies above 32 MiB; half of it leaves room for escapes in JSON."""
MAX_BATCH_POINTS = 128
"""Edge holds its lock for a whole update. The slowest search beside ingestion (10,000 of 100,000 messages,
two busy cores) took 0.8 s at 512 points, 0.2 s at 128, at the same rate of writing; at 32 the rate halves."""

_ROLES = {role.value: role for role in Role}
_KINDS = {kind.value: kind for kind in Kind}

Form = Literal["chunk", "marker", "said", "identity"]
"""A keyword, not a flag: Edge 0.9.0 takes `MatchValue(True)` for the integer 1 and finds nothing."""


class Point(NamedTuple):
    id: UUID
    payload: dict[str, Any]
    terms: Terms | None
    vector: Vector | None


class Row(NamedTuple):
    payload: Mapping[str, Any]
    vector: Vector | None


@dataclass(frozen=True)
class Where:
    """All conditions must hold; None is no condition. Without a tenant nothing is read but by its age, and by
    who copies a store whole."""

    tenant: str | None
    addresses: Sequence[int] | None = None
    digests: Sequence[str] | None = None
    ids: Sequence[UUID] | None = None
    form: Form | None = None
    has_vector: bool = False
    session: str | None = None
    era_below: int | None = None
    said_before: float | None = None


def message_key(message: IndexedMessage) -> int:
    return address_key(bytes.fromhex(message.address))


def chunk_id(tenant: str, address: int, unit: int, part: int) -> UUID:
    return uuid5(NAMESPACE, f"{tenant}\0{address}/{unit}/{part}")


def marker_id(tenant: str, address: int) -> UUID:
    return uuid5(NAMESPACE, f"{tenant}\0{address}/marker")


def said_id(origin: Origin, address: int) -> UUID:
    return uuid5(NAMESPACE, f"{origin.tenant}\0{address}/said/{origin.era}/{origin.session}")


def identity_id(tenant: str) -> UUID:
    return uuid5(NAMESPACE, f"{tenant}\0identity")


def identity_point(tenant: str) -> Point:
    """Tells one making of a tenant's store from another."""
    payload = {"tenant": tenant, "form": "identity", "identity": uuid4().hex}
    return Point(identity_id(tenant), payload, None, None)


def said_point(origin: Origin, address: int) -> Point:
    """One for each message, session and era: who says it too adds a point and changes none."""
    payload = {
        "tenant": origin.tenant,
        "address": address,
        "form": "said",
        "session": origin.session,
        "era": origin.era,
        "at": origin.at,
    }
    return Point(said_id(origin, address), payload, None, None)


def chunk_points(tenant: str, messages: Iterable[IndexedMessage], vectors: bool) -> Iterator[Point]:
    """The chunks of the messages; with their vectors if `vectors`."""
    for message in messages:
        key = message_key(message)
        given: Sequence[Vector | None] = (
            message.vectors if vectors and message.vectors else (None,) * len(message.chunks)
        )
        for chunk, terms, vector in zip(message.chunks, message.terms, given, strict=True):
            yield Point(
                chunk_id(tenant, key, chunk.unit, chunk.part),
                _chunk_payload(tenant, key, chunk),
                terms if terms.indices else None,
                vector,
            )


def marker_points(tenant: str, messages: Iterable[IndexedMessage]) -> Iterator[Point]:
    for message in messages:
        key = message_key(message)
        payload = {
            "tenant": tenant,
            "address": key,
            "content_address": message.address,
            "form": "marker",
            "chunks": len(message.chunks),
        }
        yield Point(marker_id(tenant, key), payload, None, None)


def _chunk_payload(tenant: str, key: int, chunk: Chunk) -> dict[str, Any]:
    return {
        "tenant": tenant,
        "address": key,
        "content_address": chunk.address,
        "form": "chunk",
        "unit": chunk.unit,
        "part": chunk.part,
        "start": chunk.start,
        "end": chunk.end,
        "role": chunk.role.value,
        "kind": chunk.kind.value,
        "tool": chunk.tool,
        "tokens": chunk.tokens,
        "text": chunk.text,
        "digest": chunk.digest,
    }


def light_chunk(payload: Mapping[str, Any]) -> LightChunk:
    return LightChunk(
        payload["address"],
        payload["unit"],
        payload["part"],
        payload["start"],
        payload["end"],
        payload["tokens"],
        _ROLES[payload["role"]],
        _KINDS[payload["kind"]],
        payload.get("tool"),
        payload["digest"],
    )


def batches(points: Iterable[Point]) -> Iterator[list[Point]]:
    """Runs of points whose JSON stays within `MAX_BATCH_BYTES`, in the order given."""
    batch: list[Point] = []
    size = 0
    for point in points:
        weight = _json_bytes(point)
        if batch and (len(batch) == MAX_BATCH_POINTS or size + weight > MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(point)
        size += weight
    if batch:
        yield batch


def _json_bytes(point: Point) -> int:
    """About what the point takes as JSON: a number some 22 bytes, a term two of them."""
    text = len(point.payload.get("text", "").encode())
    terms = len(point.terms.indices) if point.terms else 0
    dim = 0 if point.vector is None else len(point.vector)
    return 1024 + text + 22 * (2 * terms + dim)
