"""Names that an agent may need again: paths, dotted and joined names, numbers with letters in them.

What a tool call's argument quotes from far back is mostly such a name. Texts that bring names which the
chosen lack go first: of the strings that coding agents used again, .881 are in a prompt of 8K tokens, and
.772 without this.
"""

import heapq
import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

TOKEN_FLOOR = 100
"""Added to a text's tokens: a short line with one name is not worth ten times a listing."""
_RUN = re.compile(r"[A-Za-z0-9_./\-#@]{6,}")
_NAME = re.compile(r"[_/.#@]|[a-z][A-Z]|^\d{4,}$|^(?=.*\d)(?=.*[A-Za-z])")


def identifiers(text: str) -> frozenset[str]:
    runs = (run.strip("./-") for run in _RUN.findall(text))
    return frozenset(run for run in runs if len(run) >= 6 and _NAME.search(run))


def by_coverage(
    order: Sequence[int], texts: Mapping[int, str], scores: Floats, tokens: Ints, bonus: float
) -> list[int]:
    """The rows of `order`, each next the best by score and by identifiers that those before it lack.

    Both as shares of the best; identifiers count per token, `bonus` times as much as the score. What a row
    adds only shrinks while others are taken, so a row is counted anew only when it comes first.
    """
    if not order:
        return []
    names = {row: identifiers(texts.get(row, "")) for row in order}
    seen: set[str] = set()
    best_score = max(float(scores[list(order)].max()), 1e-9)
    best_gain = max(max(len(names[row]) / (tokens[row] + TOKEN_FLOOR) for row in order), 1e-9)

    def value(row: int) -> float:
        gain = len(names[row] - seen) / (tokens[row] + TOKEN_FLOOR)
        return float(scores[row] / best_score + bonus * gain / best_gain)

    heap = [(-value(row), place, row) for place, row in enumerate(order)]
    heapq.heapify(heap)
    arranged: list[int] = []
    while heap:
        _, place, row = heapq.heappop(heap)
        counted = (-value(row), place, row)
        if heap and heap[0] < counted:
            heapq.heappush(heap, counted)
            continue
        arranged.append(row)
        seen |= names[row]
    return arranged
