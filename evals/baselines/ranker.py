"""The order in which a baseline takes the units of a case, for each question."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from backscroll.engine.template import message_text
from evals.baselines.bm25 import BM25
from evals.baselines.order import Floats, Ints, by_ranks, by_score, newest
from evals.baselines.units import units_of
from evals.case import Case, Question
from evals.embeddings import QUERY, EmbeddingCache

Method = Literal["window", "bm25", "dense", "rrf"]
LAST_CHARS = 2000
EARLIER_CHARS = 1000
"""Of the newest message and of the one before, where no question is asked."""


class Ranker:
    """Prepared once a case: `units` and what scores them."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.units = units_of(case.messages())
        self._positions = np.array([unit.position for unit in self.units], dtype=np.int64)
        self._words: BM25 | None = None
        self._vectors: npt.NDArray[np.float32] | None = None
        """A row each passage."""

    async def prepare(self, method: Method, cache: EmbeddingCache | None) -> None:
        texts = [unit.text for unit in self.units]
        if method in ("bm25", "rrf"):
            self._words = BM25(texts)
        if method in ("dense", "rrf"):
            if cache is None:
                raise ValueError(f"{method} needs vectors")
            passages = [passage for unit in self.units for passage in unit.passages]
            self._vectors = np.stack(await cache.vectors(passages))

    async def order(self, method: Method, question: Question, cache: EmbeddingCache | None) -> Ints:
        """Numbers of units that stand before the question, best first."""
        after = len(self._case.pieces) if question.after is None else question.after
        upto = int(np.searchsorted(self._positions, after))
        if method == "window":
            return newest(upto)
        query = question.text or _as_it_stands(self._case.messages(after))
        orders: list[Ints] = []
        if self._words is not None:
            orders.append(by_score(self._words.scores(query, upto)))
        if self._vectors is not None and cache is not None:
            (vector,) = await cache.vectors([QUERY + query])
            orders.append(by_score(self._best_passages(self._vectors @ vector)[:upto]))
        return orders[0] if len(orders) == 1 else by_ranks(*orders)

    def _best_passages(self, scores: npt.NDArray[np.float32]) -> Floats:
        """A unit is as near as the nearest of its passages."""
        counts = np.array([len(unit.passages) for unit in self.units])
        best: Floats = np.maximum.reduceat(scores, np.cumsum(counts) - counts).astype(np.float64)
        return best


def _as_it_stands(messages: Sequence[dict[str, object]]) -> str:
    ends = [(messages[-1:], LAST_CHARS), (messages[-2:-1], EARLIER_CHARS)]
    return "\n".join(message_text(m)[-chars:] for found, chars in ends for m in found)
