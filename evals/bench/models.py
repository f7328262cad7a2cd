"""Models that take next to no time; what they find is of no interest here."""

import hashlib
from collections.abc import Sequence

import numpy as np

from shared.models.port import Vector

DIM = 384
"""As the bundled model's: what is stored and searched has a real size."""


class HashEmbedder:
    name = "bench"
    dim = DIM
    batch = 64
    batch_tokens = 64_000

    async def passages(self, texts: Sequence[str]) -> list[Vector]:
        return [_vector(text) for text in texts]

    async def query(self, text: str) -> Vector:
        return _vector(text)

    async def close(self) -> None:
        """Holds nothing."""


def _vector(text: str) -> Vector:
    """A direction by the hash of the text: 30 us."""
    seed = int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    vector = np.random.default_rng(seed).standard_normal(DIM).astype(np.float32)
    return vector / np.float32(np.linalg.norm(vector))
