"""The bundled embedding model behind HTTP, with its vectors cached on disk.

A suite is run many times while recall is worked on; its texts are embedded once.
"""

import sqlite3
from hashlib import blake2b
from pathlib import Path

import numpy as np
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from shared.models.embed_bundled import BundledEmbedder

QUERY = "query: "
"""What a search text begins with (`embed_query_prefix`)."""


class EmbeddingCache:
    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._model = BundledEmbedder()
        self._db = sqlite3.connect(file, check_same_thread=False)
        self._db.execute("CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, vector BLOB)")
        self.computed = 0

    @property
    def dim(self) -> int:
        return self._model.dim

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/embeddings", self._embed, methods=["POST"])])

    async def close(self) -> None:
        self._db.close()
        await self._model.close()

    async def _embed(self, request: Request) -> JSONResponse:
        texts: list[str] = orjson.loads(await request.body())["input"]
        digests = [blake2b(text.encode(), digest_size=16).digest() for text in texts]
        known = {d: v for d in digests if (v := self._stored(d)) is not None}
        new = {d: text for d, text in zip(digests, texts, strict=True) if d not in known}
        for digest, text in new.items():
            known[digest] = await self._vector(text)
            self._db.execute(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)", (digest, known[digest].tobytes())
            )
        self._db.commit()
        self.computed += len(new)
        data = [{"index": i, "embedding": known[d].tolist()} for i, d in enumerate(digests)]
        return JSONResponse({"object": "list", "data": data})

    async def _vector(self, text: str) -> "np.typing.NDArray[np.float32]":
        if text.startswith(QUERY):
            return await self._model.query(text.removeprefix(QUERY))
        return (await self._model.passages([text]))[0]

    def _stored(self, digest: bytes) -> "np.typing.NDArray[np.float32] | None":
        row = self._db.execute("SELECT vector FROM vectors WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)
