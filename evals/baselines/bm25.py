"""BM25 over the units of a history, with the words of the product's own index."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shared.text.terms import K1, B, tokens

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class BM25:
    """Robertson's, with the average length of the history itself."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(tokens(text)) for text in texts]
        self._lengths = np.array([c.total() for c in counts], dtype=np.float64)
        places: dict[str, list[tuple[int, int]]] = {}
        for number, counted in enumerate(counts):
            for token, n in counted.items():
                places.setdefault(token, []).append((number, n))
        self._places: dict[str, tuple[Ints, Floats]] = {}
        for token, found in places.items():
            numbers, frequencies = zip(*found, strict=True)
            self._places[token] = (np.array(numbers), np.array(frequencies, dtype=np.float64))

    def scores(self, query: str, upto: int) -> Floats:
        """Of the first `upto` texts, as if there were no others."""
        scores = np.zeros(upto)
        if not upto:
            return scores
        lengths = self._lengths[:upto]
        norm = K1 * (1 - B + B * lengths / max(lengths.mean(), 1.0))
        for token, weight in Counter(tokens(query)).items():
            numbers, frequencies = self._places.get(token, (np.zeros(0, np.int64), np.zeros(0)))
            known = int(np.searchsorted(numbers, upto))
            rows, n = numbers[:known], frequencies[:known]
            idf = np.log1p((upto - known + 0.5) / (known + 0.5))
            scores[rows] += weight * idf * n * (K1 + 1) / (n + norm[rows])
        return scores
