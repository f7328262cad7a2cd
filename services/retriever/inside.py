"""What stands verbatim in the prompt already, and is therefore never a candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shared.conversation.history import History
from shared.prompt.plan import Excerpt

Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Inside:
    positions: npt.NDArray[np.bool_]
    """One entry a position: the whole message stands in the prompt."""
    ranges: Mapping[tuple[int, int], Ranges]
    """By (address key, unit): ranges of a unit that stand in the prompt, merged and in order."""

    def covers(self, address: int, unit: int, start: int, end: int) -> bool:
        """Whether excerpts hold the whole range. Equal texts count, wherever they were said."""
        return any(a <= start and end <= b for a, b in self.ranges.get((address, unit), ()))


def read_inside(history: History, bits: bytes, excerpts: Sequence[Excerpt]) -> Inside:
    """`bits` as `numpy.packbits` writes them; positions beyond its end are outside."""
    positions = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), count=len(history)).astype(bool)
    keys = history.address_keys
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for excerpt in excerpts:
        key = (int(keys[excerpt.position]), excerpt.unit)
        found.setdefault(key, []).append((excerpt.start, excerpt.end))
    return Inside(positions, {key: _merge(ranges) for key, ranges in found.items()})


def _merge(ranges: list[tuple[int, int]]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
