"""Maximal marginal relevance: what repeats the chosen gives way to what does not."""

import numpy as np
import numpy.typing as npt

from shared.store.port import Vector


def mmr(
    scores: npt.NDArray[np.float64], vectors: list[Vector | None], balance: float
) -> npt.NDArray[np.int64]:
    """Row numbers, best first: `balance` x score - (1 - `balance`) x highest cosine to a row before.

    A row without a vector resembles nothing. Equal rows keep their order.
    """
    matrix = _matrix(vectors)
    left = balance * scores
    nearest = np.full(len(scores), 0.0)
    order = np.empty(len(scores), dtype=np.int64)
    for place in range(len(scores)):
        row = int(np.argmax(left - (1 - balance) * nearest))
        order[place] = row
        cosines = matrix @ matrix[row]
        nearest = cosines if place == 0 else np.maximum(nearest, cosines)
        left[row] = -np.inf
    return order


def _matrix(vectors: list[Vector | None]) -> npt.NDArray[np.float64]:
    width = next((len(vector) for vector in vectors if vector is not None), 1)
    return np.array([np.zeros(width) if vector is None else vector for vector in vectors], dtype=np.float64)
