"""One order out of two, each with its share of the tokens."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def interleave(first: Sequence[int], second: Sequence[int], tokens: Ints, share: float) -> list[int]:
    """All rows once: at each place from the order that is furthest behind its share of the tokens so far.

    `share` is the second's, below 1. A row that the other order took already costs nothing again.
    """
    orders, shares, used, at = (first, second), (1 - share, share), [0.0, 0.0], [0, 0]
    taken: dict[int, None] = {}
    while at[0] < len(first) or at[1] < len(second):
        turn = int(at[0] >= len(first) or (used[1] < used[0] and at[1] < len(second)))
        row = orders[turn][at[turn]]
        at[turn] += 1
        if row not in taken:
            taken[row] = None
            used[turn] += float(tokens[row]) / shares[turn]
    return list(taken)
