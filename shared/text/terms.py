"""Lexical terms: what recall by words compares (ADR 0003).

The same tokens come out of a stored text and of a query. Their weights are made so that the product
of the two, times the IDF that the store applies to the query, is BM25.
"""

import zlib
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from shared.text.words import tokens

K1 = 1.2
B = 0.75
AVERAGE_LENGTH = 64.0
"""Tokens. A constant, so that a text's terms depend on the text alone and never need to be redone.

All evidence found, smoothed and per token, first / second half: BEAM 100K at 8K .710/.796 with 64,
.682/.796 with 128, .664/.796 with each chat's own average; LoCoMo at 4K .877/.893, .875/.891, .880/.889.
"""


class Terms(NamedTuple):
    """A sparse vector. Indices are unique, ascending and below 2**32."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


def term_index(token: str) -> int:
    """The same in every process and version: it is stored. Collisions are accepted (1 in 100,000 words)."""
    return zlib.crc32(token.encode("utf-8", "replace"))


def document_terms(text: str) -> Terms:
    """BM25's saturated term frequencies, without IDF."""
    counts = Counter(tokens(text))
    norm = K1 * (1 - B + B * counts.total() / AVERAGE_LENGTH)
    return _terms({token: n * (K1 + 1) / (n + norm) for token, n in counts.items()})


def query_terms(weighted: Sequence[tuple[str, float]]) -> Terms:
    """Tokens with their weights; the weights of equal tokens are summed."""
    weights: dict[str, float] = {}
    for token, weight in weighted:
        weights[token] = weights.get(token, 0.0) + weight
    return _terms(weights)


def _terms(weights: dict[str, float]) -> Terms:
    by_index: dict[int, float] = {}
    for token, weight in weights.items():
        index = term_index(token)
        by_index[index] = by_index.get(index, 0.0) + weight
    ordered = sorted(by_index.items())
    return Terms(tuple(i for i, _ in ordered), tuple(v for _, v in ordered))


__all__ = ["Terms", "document_terms", "query_terms", "term_index", "tokens"]
