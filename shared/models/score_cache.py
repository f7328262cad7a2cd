"""Scores of a query and a text, kept for a while."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable

from shared.conversation.address import text_digest

Key = tuple[str, bytes, str]


def cache_key(tenant: str, query: str, text: str) -> Key:
    asked = hashlib.blake2b(query.encode("utf-8", "replace"), digest_size=16).digest()
    return tenant, asked, text_digest(text)


class ScoreCache:
    """At most `size` scores, each for at most `ttl_s` seconds; the least recently used goes first."""

    def __init__(self, ttl_s: float, size: int, clock: Callable[[], float]) -> None:
        self._ttl_s = ttl_s
        self._size = size
        self._clock = clock
        self._scores: OrderedDict[Key, tuple[float, float]] = OrderedDict()

    def get(self, key: Key) -> float | None:
        entry = self._scores.get(key)
        if entry is None:
            return None
        score, until = entry
        if self._clock() >= until:
            del self._scores[key]
            return None
        self._scores.move_to_end(key)
        return score

    def put(self, key: Key, score: float) -> None:
        self._scores[key] = (score, self._clock() + self._ttl_s)
        self._scores.move_to_end(key)
        while len(self._scores) > self._size:
            self._scores.popitem(last=False)
