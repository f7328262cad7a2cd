"""The strict demo engine at each window, with what it refused kept; and vectors that cost nothing."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from backscroll.engine import Engine, create_engine
from backscroll.engine.engine import Completion
from backscroll.engine.limits import Refusal
from shared.service import serving
from shared.settings import EngineSettings

Kind = Literal["plain", "strict", "blind"]
KINDS: tuple[Kind, ...] = ("plain", "strict", "blind")
"""Takes any valid history; has the strictest of templates; counts for nobody."""
DIM = 64


@dataclass(frozen=True)
class Refused:
    body: dict[str, Any]
    said: str
    invalid: bool
    """Not too long, but malformed."""


class KeepingEngine(Engine):
    """Keeps the requests that it refused, those that the gateway tried again too."""

    refused: list[Refused]

    def complete(self, body: dict[str, Any]) -> Completion:
        try:
            return super().complete(body)
        except Refusal as refusal:
            invalid = refusal.param in ("messages", "tools")
            self.refused.append(Refused(body, refusal.message, invalid))
            raise


@dataclass(frozen=True)
class Target:
    """A model that a client can ask, and the engine behind it."""

    model: str
    window: int
    kind: Kind
    engine: KeepingEngine


@asynccontextmanager
async def engines(windows: tuple[int, ...]) -> AsyncIterator[tuple[list[Target], tuple[EngineSettings, ...]]]:
    """Three of each window."""
    async with AsyncExitStack() as stack:
        targets: list[Target] = []
        settings: list[EngineSettings] = []
        for window in windows:
            for kind in KINDS:
                model, strict = f"w{window}-{kind}", kind == "strict"
                engine = KeepingEngine(window, model, strict=strict)
                engine.refused = []
                app = create_engine(window, model)
                app.state.engine = engine
                if kind == "blind":
                    app.router.routes = [
                        r for r in app.router.routes if getattr(r, "path", "") != "/tokenize"
                    ]
                port = await stack.enter_async_context(serving(app, "127.0.0.1", 0))
                targets.append(Target(model, window, kind, engine))
                settings.append(
                    EngineSettings(
                        name=model,
                        url=f"http://127.0.0.1:{port}/v1",
                        models=(model,),
                        chat_only=True,
                        strict_alternation=strict,
                        developer_role=not strict,
                        tool_ids="mistral" if strict else "any",
                        context=window,
                    )
                )
        yield targets, tuple(settings)


@asynccontextmanager
async def hashed_vectors() -> AsyncIterator[str]:
    """An embedding server: what is measured here is whether prompts fit, not what is found."""

    async def answer(request: Request) -> JSONResponse:
        texts = (await request.json())["input"]
        vectors = await asyncio.to_thread(lambda: [_vector(text) for text in texts])
        return JSONResponse({"data": [{"index": i, "embedding": v} for i, v in enumerate(vectors)]})

    app = Starlette(routes=[Route("/v1/embeddings", answer, methods=["POST"])])
    async with serving(app, "127.0.0.1", 0) as port:
        yield f"http://127.0.0.1:{port}/v1"


def _vector(text: str) -> list[float]:
    seed = int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())
    vector = np.random.default_rng(seed).standard_normal(DIM)
    found: list[float] = (vector / np.linalg.norm(vector)).tolist()
    return found
