"""How much of a request the store can answer for yet: terms first, vectors after (ADR 0003)."""

from dataclasses import dataclass

from shared.conversation.history import History
from shared.store.port import ChunkStore


@dataclass(frozen=True)
class Readiness:
    missing: tuple[int, ...]
    """Positions without a marker."""
    indexed_to: int
    """Every position before this has its marker."""


@dataclass(frozen=True)
class Vectors:
    share: float
    """Of the units that are asked about, with a vector; what is not indexed yet counts as without."""
    covered_to: int


async def indexed(store: ChunkStore, tenant: str, history: History, start: int, end: int) -> Readiness:
    """Looks at positions in [`start`, `end`); the ones before are known to be there."""
    keys = history.address_keys[start:end].tolist()
    absent = await store.missing(tenant, keys) if keys else set()
    missing = tuple(start + place for place, key in enumerate(keys) if key in absent)
    return Readiness(missing, missing[0] if missing else max(start, end))


async def covered(
    store: ChunkStore, tenant: str, history: History, start: int, end: int, ready: Readiness
) -> Vectors:
    """Looks at positions in [`start`, `end`); the ones before are known to have their vectors."""
    if start >= end:
        return Vectors(1.0, start)
    found = await store.coverage(tenant, history.address_keys[start:end].tolist())
    before = int(history.unit_offsets[start])
    waiting = int(history.units[list(ready.missing)].sum())
    total = before + found.chunks + waiting
    share = (before + found.with_vector) / total if total else 1.0
    complete = found.with_vector == found.chunks and not ready.missing
    return Vectors(share, end if complete else start)
