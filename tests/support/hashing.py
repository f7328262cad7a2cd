"""Deterministic models: word hashing for vectors, shared words for relevance."""

import hashlib
from collections.abc import Sequence

import numpy as np

from shared.models.port import Relevance, Vector
from shared.text.terms import tokens

DIM = 64


class HashingEmbedder:
    """Texts that share words are near; the same text has the same vector in every process."""

    name = "hashing"
    dim = DIM
    batch = 16
    batch_tokens = 1000

    def __init__(self) -> None:
        self.embedded: list[str] = []

    async def passages(self, texts: Sequence[str]) -> list[Vector]:
        self.embedded += texts
        return [hashed(text) for text in texts]

    async def query(self, text: str) -> Vector:
        return hashed(text)

    async def close(self) -> None:
        pass


def hashed(text: str) -> Vector:
    vector = np.zeros(DIM, dtype=np.float32)
    for token in tokens(text) or ["\0"]:
        digest = hashlib.blake2b(token.encode("utf-8", "replace"), digest_size=8).digest()
        vector[digest[0] % DIM] += 1.0 if digest[1] & 1 else -1.0
    norm = float(np.linalg.norm(vector))
    if norm == 0:
        vector[0] = norm = 1.0
    return vector / np.float32(norm)


class LexicalReranker:
    """The share of the question's words that a text holds."""

    ranks = False

    async def score(self, tenant: str, query: str, texts: Sequence[str]) -> Relevance:
        wanted = set(tokens(query))
        scores = tuple(len(wanted & set(tokens(text))) / max(len(wanted), 1) for text in texts)
        return Relevance(scores, threshold=0.5)

    async def close(self) -> None:
        pass
