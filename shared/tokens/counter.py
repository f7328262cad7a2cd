"""The engine's own tokenizer and window, asked over HTTP."""

import time
from dataclasses import dataclass
from typing import Any

import httpx
import orjson

from shared.errors import DependencyUnavailable

WINDOW_FRESH_S = 60.0


@dataclass(frozen=True)
class Endpoints:
    """`engine_url` carries `/v1`; `/tokenize` stands beside it."""

    models: str
    tokenize: str

    @classmethod
    def of(cls, engine_url: str) -> "Endpoints":
        base = engine_url.rstrip("/")
        root = base.removesuffix("/v1")
        return cls(models=f"{base}/models", tokenize=f"{root}/tokenize")


class EngineCounter:
    """Counts a prompt as the engine will (vLLM's `/tokenize`, which SGLang and the demo engine share)."""

    def __init__(self, client: httpx.AsyncClient, engine_url: str, timeout_s: float) -> None:
        self._client = client
        self._endpoints = Endpoints.of(engine_url)
        self._timeout = timeout_s
        self._absent = False
        self._windows: dict[str, int] = {}
        self._asked_at = -WINDOW_FRESH_S

    async def count(self, fields: dict[str, bytes], messages: list[bytes]) -> int | None:
        """Tokens of the whole prompt; None where the engine has no tokenizer to offer.

        Raises `DependencyUnavailable("count_estimated", ...)` where it has one that does not answer.
        """
        if self._absent:
            return None
        kept = [orjson.dumps(name) + b":" + fields[name] for name in ("model", "tools") if name in fields]
        kept += [b'"messages":[' + b",".join(messages) + b"]", b'"add_generation_prompt":true']
        try:
            reply = await self._client.post(
                self._endpoints.tokenize,
                content=b"{" + b",".join(kept) + b"}",
                headers={"content-type": "application/json"},
                timeout=self._timeout,
            )
        except httpx.HTTPError as error:
            raise DependencyUnavailable("count_estimated", f"tokenizer: {type(error).__name__}") from error
        if reply.status_code in (404, 405):
            self._absent = True
            return None
        if reply.status_code != 200:
            raise DependencyUnavailable("count_estimated", f"tokenizer: status {reply.status_code}")
        count = _object(reply).get("count")
        if not isinstance(count, int):
            raise DependencyUnavailable("count_estimated", "tokenizer: no count in the reply")
        return count

    async def window(self, model: str) -> int | None:
        """`max_model_len` of a model, where the engine tells it; asked again once a minute."""
        if time.monotonic() - self._asked_at >= WINDOW_FRESH_S:
            self._asked_at = time.monotonic()
            try:
                reply = await self._client.get(self._endpoints.models, timeout=self._timeout)
                listed = _object(reply).get("data", []) if reply.status_code == 200 else []
            except httpx.HTTPError:
                # The request itself will meet the engine next and report what is wrong with it.
                listed = []
            lengths = {m["id"]: m.get("max_model_len") for m in listed if isinstance(m, dict) and "id" in m}
            self._windows |= {name: length for name, length in lengths.items() if isinstance(length, int)}
        return self._windows.get(model)


def _object(reply: httpx.Response) -> dict[str, Any]:
    try:
        value = orjson.loads(reply.content)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
