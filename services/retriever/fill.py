"""Which chunks a budget takes."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

WORTH_CUTTING = 96
"""Tokens: less of a longer chunk than this says too little."""


class Taken(NamedTuple):
    row: int
    tokens: int
    """Allowed; below the chunk's own where it is to be cut."""


def by_value(scores: Floats, tokens: Ints, exponent: float, floor: int) -> Ints:
    """Rows, best first, by score per token. Without the floor one-word answers push out the rest.

    Equal values: the later row, which is the more recent one, first.
    """
    values = scores / np.maximum(tokens, floor) ** exponent
    return np.lexsort((-np.arange(len(scores)), -values))


def fill(order: Iterable[int], must: Sequence[int], tokens: Ints, budget: int) -> list[Taken]:
    """Take `must` for certain, then in order what fits; sum of tokens <= budget.

    Where the next chunk is longer than what is left, it takes all that is left, to be cut. Where `must`
    alone is too much, each of it gets its share.
    """
    taken: list[Taken] = []
    left = budget
    for place, row in enumerate(must):
        share = left // (len(must) - place) if int(tokens[list(must[place:])].sum()) > left else left
        allowed = min(int(tokens[row]), share)
        taken.append(Taken(row, allowed))
        left -= allowed
    seen = set(must)
    for row in order:
        if left <= 0:
            break
        size = int(tokens[row])
        if row in seen or (size > left and left < WORTH_CUTTING):
            continue
        taken.append(Taken(row, min(size, left)))
        left -= min(size, left)
    return taken
