"""Where in this request the chunks that the store found were said.

The store knows no positions (ADR 0001). The same text can stand at several: where one of them is in
the prompt the chunk is inside, otherwise its newest occurrence counts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from services.retriever.inside import Inside
from shared.contracts.rpc import ChunkRef
from shared.conversation.history import History
from shared.store.port import Found, Hit, LightChunk

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Pool:
    """Chunks of the request, one row each, ordered by position, unit and part."""

    chunks: tuple[LightChunk, ...]
    address: Ints
    position: Ints
    unit: Ints
    part: Ints
    unit_index: Ints
    """Place in the unit sequence of the request."""
    tokens: Ints
    unit_tokens: Ints
    """Of the whole unit, as an equal share of its message."""
    role: npt.NDArray[np.uint8]
    inside: Bools
    terms: Floats
    """BM25 of the chunk itself; 0 where the terms did not find it."""
    hop: Floats
    """BM25 with the terms of the second hop; as `terms` where there was none."""
    dense: Floats
    """Cosine; NaN where the vector did not find it."""

    def __len__(self) -> int:
        return len(self.chunks)

    def ref(self, row: int) -> ChunkRef:
        return ChunkRef(int(self.position[row]), int(self.unit[row]), int(self.part[row]))

    def key(self, row: int) -> tuple[int, int, int]:
        return int(self.address[row]), int(self.unit[row]), int(self.part[row])


class Occurrences:
    """All positions of each address of a request."""

    def __init__(self, history: History) -> None:
        keys = history.address_keys
        self._order: Ints = np.argsort(keys, kind="stable")
        self._sorted: Ints = keys[self._order]
        self._offsets = history.unit_offsets

    def newest(self, addresses: Ints) -> Ints:
        """The last position of each address; -1 for one that the request does not hold."""
        right = np.searchsorted(self._sorted, addresses, side="right") - 1
        known = (right >= 0) & (self._sorted[right] == addresses)
        return np.where(known, self._order[right], -1)

    def any_in(self, addresses: Ints, positions: Bools) -> Bools:
        """Whether one of an address's positions is in the set."""
        counted = np.concatenate(([0], np.cumsum(positions[self._order])))
        left = np.searchsorted(self._sorted, addresses, side="left")
        right = np.searchsorted(self._sorted, addresses, side="right")
        marked: Bools = counted[right] > counted[left]
        return marked

    def spread(self, pool: Pool, scores: Floats) -> Floats:
        """Scores over the unit sequence: a unit has its best part's, at every place it was said at."""
        left = np.searchsorted(self._sorted, pool.address, side="left")
        counts = np.searchsorted(self._sorted, pool.address, side="right") - left
        rows = np.repeat(np.arange(len(pool)), counts)
        nth = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        positions = self._order[left[rows] + nth]
        units = np.zeros(self._offsets[-1])
        np.maximum.at(units, self._offsets[positions] + pool.unit[rows], scores[rows])
        return units


def locate(
    history: History,
    occurrences: Occurrences,
    inside: Inside,
    found: Found,
    hop: Sequence[Hit] | None = None,
    more: Iterable[LightChunk] = (),
) -> Pool:
    """One row a chunk. Units that the request does not have are left out: they cannot be rendered."""
    rows: dict[tuple[int, int, int], int] = {}
    light: list[LightChunk] = []

    def row_of(chunk: LightChunk) -> int:
        row = rows.setdefault(chunk[:3], len(light))
        if row == len(light):
            light.append(chunk)
        return row

    term_rows = [row_of(hit.chunk) for hit in found.by_terms]
    vector_rows = [row_of(hit.chunk) for hit in found.by_vector]
    hop_rows = [row_of(hit.chunk) for hit in hop or ()]
    for chunk in more:
        row_of(chunk)
    terms, dense = np.zeros(len(light)), np.full(len(light), np.nan)
    terms[term_rows] = [hit.score for hit in found.by_terms]
    dense[vector_rows] = [hit.score for hit in found.by_vector]
    hops = terms
    if hop is not None:
        hops = np.zeros(len(light))
        hops[hop_rows] = [hit.score for hit in hop]

    keys = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=3 * len(rows)).reshape(-1, 3)
    position = occurrences.newest(keys[:, 0])
    valid = position >= 0
    valid[valid] = keys[valid, 1] < history.units[position[valid]]
    order = np.lexsort((keys[:, 2], keys[:, 1], position))
    order = order[valid[order]]
    light = [light[row] for row in order]
    keys, position = keys[order], position[order]
    return Pool(
        chunks=tuple(light),
        address=keys[:, 0],
        position=position,
        unit=keys[:, 1],
        part=keys[:, 2],
        unit_index=history.unit_offsets[position] + keys[:, 1],
        tokens=np.fromiter((chunk.tokens for chunk in light), dtype=np.int64, count=len(light)),
        unit_tokens=history.tokens[position].astype(np.int64) // history.units[position],
        role=history.roles[position],
        inside=_inside(light, occurrences.any_in(keys[:, 0], inside.positions), inside),
        terms=terms[order],
        hop=hops[order],
        dense=dense[order],
    )


def _inside(chunks: Sequence[LightChunk], whole: Bools, inside: Inside) -> Bools:
    if not inside.ranges:
        return whole
    for row, chunk in enumerate(chunks):
        if (chunk.address, chunk.unit) in inside.ranges:
            whole[row] |= inside.covers(chunk.address, chunk.unit, chunk.start, chunk.end)
    return whole
