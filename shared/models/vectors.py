"""What may be stored as a vector: finite, of the right dimension, of length one."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shared.errors import BadAnswer
from shared.models.port import Vector

PART = "embed_unavailable"


def unit_vectors(rows: object, count: int, dim: int) -> list[Vector]:
    """`count` unit vectors of `dim` numbers, in the order of `rows`.

    Raises `BadAnswer("embed_unavailable", ...)` for anything else: servers answer with nulls
    (huggingface/text-embeddings-inference#644), NaN or zeros when they are overloaded or half loaded.
    """
    if not isinstance(rows, (list, np.ndarray)) or len(rows) != count:
        given = len(rows) if isinstance(rows, (list, np.ndarray)) else type(rows).__name__
        raise BadAnswer(PART, f"asked for {count} embeddings, got {given}")
    return [_unit(row, dim) for row in rows]


def _unit(row: object, dim: int) -> Vector:
    try:
        vector = np.asarray(row, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadAnswer(PART, "an embedding is not a list of numbers") from error
    if vector.shape != (dim,):
        got = "x".join(map(str, vector.shape)) or "0"
        raise BadAnswer(PART, f"an embedding has {got} dimensions, not {dim}")
    if not np.isfinite(vector).all():
        raise BadAnswer(PART, "an embedding holds nulls, NaN or infinity")
    return _normalised(vector)


def _normalised(vector: npt.NDArray[np.float64]) -> Vector:
    largest = np.abs(vector).max()
    if largest < 1e-12:
        raise BadAnswer(PART, "an embedding is zero")
    scaled = vector / largest
    unit: Vector = (scaled / np.linalg.norm(scaled)).astype(np.float32)
    return unit


def pooled(vectors: Sequence[Vector], weights: Sequence[float]) -> Vector:
    """The unit vector of a text from those of its pieces, weighted by their lengths."""
    return _normalised(np.average(np.asarray(vectors, dtype=np.float64), axis=0, weights=weights))
