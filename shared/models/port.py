"""What the services ask of models. Adapters: servers over HTTP, and the bundled ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors.

    Raises `DependencyUnavailable("embed_unavailable", ...)` for what passes by itself (no answer,
    overload, a wrong key or path), its kind `BadAnswer` for nulls, NaN, a wrong count or dimension and
    a server that fails without a known reason, `TextTooLarge` for an input that the server calls too
    large, `PermanentFault` for one that it refuses.
    """

    name: str
    """Names the collection: a vector of one model says nothing to another."""
    dim: int
    batch: int
    """Texts a call."""
    batch_tokens: int
    """Tokens a call (upper bound), so that a query never waits long behind a batch."""

    async def passages(self, texts: Sequence[str]) -> list[Vector]: ...

    async def query(self, text: str) -> Vector:
        """Goes before ingestion where both share a model."""

    async def close(self) -> None: ...


@dataclass(frozen=True)
class Relevance:
    """Whether a text answers a question, in [0, 1], in the order of the texts.

    `threshold` is where an answer begins on this scorer's scale (`block_relevance_min` for a
    cross-encoder).
    """

    scores: tuple[float, ...]
    threshold: float


class Reranker(Protocol):
    """Raises `DependencyUnavailable("rerank_unavailable", ...)`."""

    ranks: bool
    """Whether the scores are good enough to order candidates by; the light scorer's are for the drift check
    only."""

    async def score(self, tenant: str, query: str, texts: Sequence[str]) -> Relevance:
        """What is remembered of scores is remembered of one tenant: how soon an answer comes tells no other
        what was asked."""

    async def close(self) -> None: ...
