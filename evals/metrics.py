"""ER and AEH, without a judge model.

ER@B is the mean share of a question's evidence that is in the prompt of B tokens; AEH@B the share of
questions with all of their evidence in it. Intervals are bootstrapped over conversations, since the
questions of one conversation are not independent.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evals.case import PRESENT
from evals.judged import Judged

SHINGLE = 24
"""Characters; long enough not to be found by chance, short enough for a cut sentence."""
ROUNDS = 1000
SEED = 1
_BASE = np.uint64(0x9E3779B97F4A7C15)

Hashes = npt.NDArray[np.uint64]
Metric = Callable[[Judged], float]


def present(text: str, prompt: str) -> bool:
    """Whether at least 80% of the text's characters stand in the prompt, in pieces of some length."""
    if text in prompt or not text.strip():
        return True
    if len(text) <= SHINGLE:
        return False
    hits = np.isin(_shingles(text), _prompt_shingles(prompt))
    # A character is covered where any shingle over it is there.
    edges = np.zeros(len(text) + 1, dtype=np.int64)
    starts = np.flatnonzero(hits)
    np.add.at(edges, starts, 1)
    np.add.at(edges, starts + SHINGLE, -1)
    return int((np.cumsum(edges[:-1]) > 0).sum()) >= PRESENT * len(text)


def _shingles(text: str) -> Hashes:
    """A hash of every run of `SHINGLE` characters; two in a million million collide."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    count = max(len(codes) - SHINGLE + 1, 0)
    hashes = np.zeros(count, dtype=np.uint64)
    for offset in range(SHINGLE):
        hashes = hashes * _BASE + codes[offset : offset + count] + np.uint64(1)
    return hashes


@lru_cache(maxsize=4)
def _prompt_shingles(prompt: str) -> Hashes:
    return np.unique(_shingles(prompt))


def found_share(evidence: Sequence[str], prompt: str, *, whole: bool) -> float:
    """Share of the texts that are in the prompt; `whole`: all of a text must be."""
    return sum(text in prompt if whole else present(text, prompt) for text in evidence) / len(evidence)


def found(judged: Judged) -> float:
    return judged.found


def all_found(judged: Judged) -> float:
    return float(judged.all_found)


def er(judged: Sequence[Judged]) -> float:
    return mean(judged, found)


def aeh(judged: Sequence[Judged]) -> float:
    return mean(judged, all_found)


def mean(judged: Sequence[Judged], metric: Metric) -> float:
    return sum(map(metric, judged)) / len(judged) if judged else float("nan")


def interval(judged: Sequence[Judged], metric: Metric) -> tuple[float, float]:
    """95%, over conversations drawn with replacement."""
    return _percentiles(_by_case((j.case, metric(j)) for j in judged))


def difference(
    first: Sequence[Judged], second: Sequence[Judged], metric: Metric
) -> tuple[float, float, float]:
    """Mean of first minus second over the questions that both answered, with its 95% interval.

    Paired: both are drawn with the same conversations, so that what is hard for both cancels out.
    """
    other: Mapping[tuple[str, str], float] = {(j.case, j.question): metric(j) for j in second}
    pairs = [(j.case, metric(j) - other[j.case, j.question]) for j in first if (j.case, j.question) in other]
    if not pairs:
        return float("nan"), float("nan"), float("nan")
    return sum(value for _, value in pairs) / len(pairs), *_percentiles(_by_case(pairs))


def _by_case(values: Iterable[tuple[str, float]]) -> npt.NDArray[np.float64]:
    """Rows of (sum, count), one a conversation."""
    sums: dict[str, list[float]] = {}
    for case, value in values:
        total = sums.setdefault(case, [0.0, 0])
        total[0] += value
        total[1] += 1
    return np.array(list(sums.values()), dtype=np.float64).reshape(-1, 2)


def _percentiles(cases: npt.NDArray[np.float64]) -> tuple[float, float]:
    if not len(cases):
        return float("nan"), float("nan")
    rng = np.random.default_rng(SEED)
    drawn = cases[rng.integers(0, len(cases), (ROUNDS, len(cases)))].sum(axis=1)
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], (2.5, 97.5))
    return float(low), float(high)
