"""How much of a prompt an engine has computed before."""

from dataclasses import dataclass

import numpy as np

from backscroll.engine.prefix import PrefixCache
from backscroll.engine.tokens import Ids

LARGEST_CACHE = 1 << 24
"""Blocks of 16 tokens: nothing that a suite sends is ever forgotten."""


def common(first: Ids, second: Ids) -> int:
    """Tokens of the longest common prefix."""
    size = min(len(first), len(second))
    a = np.frombuffer(first, dtype=np.uint32)[:size]
    b = np.frombuffer(second, dtype=np.uint32)[:size]
    different = np.flatnonzero(a != b)
    return int(different[0]) if len(different) else size


@dataclass(frozen=True)
class Shared:
    """Tokens of a prompt that were computed before."""

    before: int
    """With the prompt before it in the conversation."""
    best: int
    """With any prompt of the conversation, in whole blocks of 16 tokens as vLLM caches them."""


class Account:
    """Of one conversation. What a fork asked is no prompt before the next turn, but the engine has it."""

    def __init__(self) -> None:
        self._before: Ids | None = None
        self._cache = PrefixCache(LARGEST_CACHE)

    def enter(self, ids: Ids, *, fork: bool) -> Shared:
        before = common(self._before, ids) if self._before is not None else 0
        best = self._cache.account(ids, len(ids))
        if not fork:
            self._before = ids
        return Shared(before, best)
