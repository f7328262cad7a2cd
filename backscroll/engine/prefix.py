"""The account of the prefix cache, kept as vLLM keeps it: a chain of hashes over blocks of 16 tokens."""

import hashlib
from collections import OrderedDict
from itertools import pairwise

from backscroll.engine.tokens import Ids

BLOCK_TOKENS = 16


class PrefixCache:
    """Which prefixes have been computed; the least recently used blocks go first.

    The last token of a prompt is always computed, so a repeated prompt is not cached to its end.
    """

    def __init__(self, blocks: int = 65_536) -> None:
        self._blocks = blocks
        self._seen: OrderedDict[bytes, None] = OrderedDict()

    def account(self, ids: Ids, prompt_tokens: int) -> int:
        """The cached tokens of the prompt, which are the first `prompt_tokens` of `ids`.

        All of `ids`, prompt and answer, count as seen from now on.
        """
        hashes = _chain(ids)
        reusable = hashes[: max(0, prompt_tokens - 1) // BLOCK_TOKENS]
        hits = next((n for n, h in enumerate(reusable) if h not in self._seen), len(reusable))
        # Backwards, so that of one prompt the end is forgotten before the beginning.
        for block in reversed(hashes):
            self._seen[block] = None
            self._seen.move_to_end(block)
        while len(self._seen) > self._blocks:
            self._seen.popitem(last=False)
        return hits * BLOCK_TOKENS


def _chain(ids: Ids) -> list[bytes]:
    data = ids.tobytes()
    step = BLOCK_TOKENS * ids.itemsize
    hashes: list[bytes] = []
    last = b""
    for start, end in pairwise(range(0, len(data) + 1, step)):
        last = hashlib.blake2b(last + data[start:end], digest_size=16).digest()
        hashes.append(last)
    return hashes
