"""A cross-encoder behind a rerank server of either shape and either scale."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import structlog

from shared.errors import DependencyUnavailable, PermanentFault, TextTooLarge
from shared.models.port import Relevance
from shared.models.rerank_shapes import (
    PART,
    PROBE_ANSWER,
    PROBE_QUERY,
    PROBE_UNRELATED,
    SHAPES,
    Scale,
    Shape,
    probability,
    raw_scores,
    scale_of,
)
from shared.models.score_cache import ScoreCache, cache_key
from shared.models.server import BatchTooBig, ModelServer, sendable

log = structlog.get_logger()

BATCH = 32
"""What text-embeddings-inference takes by default."""
CACHED_SCORES = 65_536
SMALLEST_PIECE = 64
"""Characters. A server that calls this too large is broken."""


class Calibration(NamedTuple):
    shape: Shape
    scale: Scale


class HttpReranker:
    """Shape and scale are found out with a known pair at the first use, and again after an answer that does
    not fit them (the server was replaced). `url` is the base or the endpoint.
    """

    ranks = True

    def __init__(
        self,
        url: str,
        model: str,
        *,
        timeout_s: float,
        threshold: float,
        cache_ttl_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._threshold = threshold
        self._batch = BATCH
        self._timeout_s = timeout_s
        self._server = ModelServer(url, "/rerank", PART, timeout_s)
        self._cache = ScoreCache(cache_ttl_s, CACHED_SCORES, clock)
        self._calibration: Calibration | None = None
        self._calibrating = asyncio.Lock()

    async def calibrate(self) -> Calibration:
        """Ask the known pair. Raises `DependencyUnavailable`; the next use tries again."""
        async with self._calibrating:
            if self._calibration is None:
                self._calibration = await self._probe()
                shape, scale = self._calibration
                log.info("reranker calibrated", shape=shape.__name__, scale=scale.value)
            return self._calibration

    async def score(self, tenant: str, query: str, texts: Sequence[str]) -> Relevance:
        keys = [cache_key(tenant, query, text) for text in texts]
        known = {key: score for key in keys if (score := self._cache.get(key)) is not None}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            # One deadline for all batches: whoever asks waits no longer than that.
            try:
                async with asyncio.timeout(self._timeout_s):
                    scores = await self._score(sendable(query), [sendable(text) for text in new.values()])
            except TimeoutError as error:
                raise DependencyUnavailable(PART, f"no scores within {self._timeout_s:g} s") from error
            for key, score in zip(new, scores, strict=True):
                self._cache.put(key, score)
                known[key] = score
        return Relevance(tuple(known[key] for key in keys), self._threshold)

    async def close(self) -> None:
        await self._server.close()

    async def _probe(self) -> Calibration:
        refusal: PermanentFault | None = None
        for shape in SHAPES:
            try:
                answer = await self._server.post(
                    shape(self._model, PROBE_QUERY, [PROBE_UNRELATED, PROBE_ANSWER])
                )
            except PermanentFault as error:
                refusal = refusal or error
                continue
            unrelated, related = raw_scores(answer, 2)
            return Calibration(shape, scale_of(unrelated, related))
        raise DependencyUnavailable(PART, f"the server takes no known form of request: {refusal}")

    async def _score(self, query: str, texts: Sequence[str]) -> list[float]:
        calibration = await self.calibrate()
        scores: list[float] = []
        try:
            while len(scores) < len(texts):
                group = texts[len(scores) : len(scores) + self._batch]
                try:
                    scores += await self._ask(calibration, query, group)
                except BatchTooBig as refusal:
                    if len(group) == 1:
                        raise DependencyUnavailable(PART, "the server refuses even one text") from refusal
                    self._batch = min(self._batch, refusal.smaller(len(group)))
        except (ValueError, PermanentFault) as error:
            self._calibration = None
            raise DependencyUnavailable(PART, f"the server does not answer as it did: {error}") from error
        return scores

    async def _ask(self, calibration: Calibration, query: str, texts: Sequence[str]) -> list[float]:
        """One oversized text fails a whole batch: it is found by halving, then scored by its better half."""
        try:
            answer = await self._server.post(calibration.shape(self._model, query, texts))
        except TextTooLarge:
            if len(texts) > 1:
                middle = len(texts) // 2
                first = await self._ask(calibration, query, texts[:middle])
                return first + await self._ask(calibration, query, texts[middle:])
            text = texts[0]
            if len(text) <= SMALLEST_PIECE:
                raise
            # The halves overlap by an eighth, so that a sentence in the middle is whole in one of them.
            cut = -(-len(text) * 9 // 16)
            halves = await self._ask(calibration, query, [text[:cut], text[-cut:]])
            return [max(halves)]
        return [probability(raw, calibration.scale) for raw in raw_scores(answer, len(texts))]
