"""How rerank servers are asked, how they answer, and on which scale.

jina   {model, query, documents} -> {results: [{index, relevance_score}]}   vLLM, infinity, llama.cpp, SGLang
tei    {query, texts}            -> [{index, score}]                        text-embeddings-inference
"""

import math
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from shared.errors import DependencyUnavailable

PART = "rerank_unavailable"

# Known pairs: bge-reranker-v2-m3 scores them -8.19 and 5.26 as logits, 0.00028 and 0.995 as a sigmoid.
PROBE_QUERY = "what is panda?"
PROBE_UNRELATED = "hi"
PROBE_ANSWER = (
    "The giant panda (Ailuropoda melanoleuca), sometimes called a panda bear or simply panda, "
    "is a bear species endemic to China."
)


class Scale(Enum):
    SIGMOID = "sigmoid"
    LOGIT = "logit"


def jina_body(model: str, query: str, texts: Sequence[str]) -> dict[str, Any]:
    return {"model": model, "query": query, "documents": list(texts)}


def tei_body(_: str, query: str, texts: Sequence[str]) -> dict[str, Any]:
    return {"query": query, "texts": list(texts), "raw_scores": False}


Shape = Callable[[str, str, Sequence[str]], dict[str, Any]]
SHAPES: tuple[Shape, ...] = (jina_body, tei_body)


def raw_scores(answer: Any, count: int) -> list[float]:
    """Scores in the order asked. Raises `DependencyUnavailable` where one is missing or not finite."""
    items = answer.get("results", answer.get("data")) if isinstance(answer, dict) else answer
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise DependencyUnavailable(PART, "the answer has no list of scores")
    scores: dict[int, float] = {}
    for item in items:
        index, score = item.get("index"), item.get("relevance_score", item.get("score"))
        if not isinstance(index, int) or index in scores or not 0 <= index < count:
            raise DependencyUnavailable(PART, "the answer's indices are not those of the request")
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise DependencyUnavailable(PART, "a score is missing or not a number")
        scores[index] = float(score)
    if len(scores) != count:
        raise DependencyUnavailable(PART, f"asked for {count} scores, got {len(scores)}")
    return [scores[index] for index in range(count)]


def scale_of(unrelated: float, answer: float) -> Scale:
    """The scale on which a server scores the known pairs. Never judged by a batch: a batch of middling texts
    looks the same on both scales."""
    if answer <= unrelated:
        raise DependencyUnavailable(
            PART, f"the server scores an answer {answer:g}, another text {unrelated:g}"
        )
    return Scale.SIGMOID if unrelated >= 0 and answer <= 1 else Scale.LOGIT


def probability(raw: float, scale: Scale) -> float:
    """In [0, 1]. Raises `ValueError` for a number that this scale does not have."""
    if scale is Scale.LOGIT:
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, raw))))
    if not -1e-6 <= raw <= 1 + 1e-6:
        raise ValueError(f"{raw:g} is no sigmoid score")
    return min(1.0, max(0.0, raw))
