"""Orders in which units are taken, best first. Equal scores: the newer one first."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RRF_K = 60
"""Of the paper (Cormack, Clarke, Buettcher 2009)."""


def newest(upto: int) -> Ints:
    return np.arange(upto - 1, -1, -1)


def by_score(scores: Floats) -> Ints:
    return np.lexsort((-np.arange(len(scores)), -scores))


def by_ranks(*orders: Ints) -> Ints:
    """Reciprocal rank fusion."""
    total = np.zeros(len(orders[0]))
    for order in orders:
        total[order] += 1.0 / (RRF_K + 1 + np.arange(len(order)))
    return by_score(total)
