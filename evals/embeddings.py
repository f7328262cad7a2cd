"""The bundled embedding model behind HTTP, with its vectors cached on disk.

A suite is run many times while recall is worked on; its texts are embedded once.
"""

import sqlite3
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from backscroll.engine.tokens import shared_encoder
from shared.models.embed_bundled import DIM, BundledEmbedder
from shared.models.port import Vector

EMBED_MODEL = BundledEmbedder.name
QUERY = "query: "
"""What a search text begins with (`embed_query_prefix`)."""


LOCKED_S = 120.0
"""Two evaluations at a time may share a cache."""


class EmbeddingCache:
    DIM = DIM

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._model = BundledEmbedder()
        self._db = sqlite3.connect(file, check_same_thread=False, timeout=LOCKED_S)
        self._db.execute("CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, vector BLOB)")
        self.passages = 0
        """Texts that the services had embedded, as often as they asked."""
        self.tokens = 0
        """Of the texts that the model was asked for, by the engine's tokenizer; cached ones cost none."""

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/embeddings", self._embed, methods=["POST"])])

    async def close(self) -> None:
        self._db.close()
        await self._model.close()

    async def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """One each, in their order. A text that begins with `QUERY` is embedded as a search text."""
        digests = [blake2b(text.encode("utf-8", "replace"), digest_size=16).digest() for text in texts]
        known = {digest: found for digest in digests if (found := self._stored(digest)) is not None}
        for digest, text in zip(digests, texts, strict=True):
            if digest not in known:
                vector = known[digest] = await self._vector(text)
                row = (digest, vector.astype(np.float32).tobytes())
                self._db.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", row)
                self.tokens += len(shared_encoder().encode(text))
        self._db.commit()
        return [known[digest] for digest in digests]

    async def _embed(self, request: Request) -> JSONResponse:
        texts: list[str] = orjson.loads(await request.body())["input"]
        self.passages += sum(not text.startswith(QUERY) for text in texts)
        vectors = await self.vectors(texts)
        data = [{"index": i, "embedding": vector.tolist()} for i, vector in enumerate(vectors)]
        return JSONResponse({"object": "list", "data": data})

    async def _vector(self, text: str) -> Vector:
        if text.startswith(QUERY):
            return await self._model.query(text.removeprefix(QUERY))
        return (await self._model.passages([text]))[0]

    def _stored(self, digest: bytes) -> Vector | None:
        row = self._db.execute("SELECT vector FROM vectors WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)
