"""The neighbours of what was chosen (profile `seed`): an answer is often next to what matched."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def neighbours(chosen: Sequence[int], unit_index: Ints, part: Ints) -> list[int]:
    """Rows beside the chosen ones, in the order of the chosen: the one before, then the one after.

    Rows are in the order of the conversation; a row counts as beside when it is the next part of the
    same unit, or in the next unit.
    """
    rows: dict[int, None] = {}
    for row in chosen:
        for beside in (row - 1, row + 1):
            if 0 <= beside < len(unit_index) and _adjacent(unit_index, part, row, beside):
                rows[beside] = None
    for row in chosen:
        rows.pop(row, None)
    return list(rows)


def _adjacent(unit_index: Ints, part: Ints, row: int, beside: int) -> bool:
    first, second = min(row, beside), max(row, beside)
    if unit_index[first] == unit_index[second]:
        return bool(part[second] == part[first] + 1)
    return bool(unit_index[second] == unit_index[first] + 1)
