"""An OpenAI client of a few lines, which also reads what Backscroll says in its headers."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from backscroll.demo.conversation import Message

REFUSAL_CHARS = 160


@dataclass
class Reply:
    """What came back. `error` is set where the request was refused or the stream broke off."""

    text: str = ""
    status: int = 200
    error: str | None = None
    mode: str = ""
    degraded: str = ""
    record: str = ""
    session: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    first_text_s: float = 0.0

    @property
    def ok(self) -> bool:
        return self.status == 200 and self.error is None

    @property
    def cached_share(self) -> float:
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


class ChatClient:
    """Asks one endpoint. `base_url` with or without `/v1`."""

    def __init__(self, base_url: str, session: str, http: httpx.AsyncClient) -> None:
        self._base_url = base_url.rstrip("/").removesuffix("/v1") + "/v1"
        self._headers = {"X-Session-Id": session}
        self._http = http

    async def first_model(self) -> tuple[str | None, int]:
        """Name and window (0 where it is not told) of the first model that the endpoint lists."""
        response = await self._http.get(f"{self._base_url}/models")
        cards = response.json().get("data") if response.status_code == 200 else None
        if not cards:
            return None, 0
        return cards[0].get("id"), cards[0].get("max_model_len") or 0

    async def ask(
        self,
        model: str,
        messages: list[Message],
        max_tokens: int,
        show: Callable[[str], None] = lambda _: None,
    ) -> Reply:
        """Streams one answer; `show` is given each piece as it comes."""
        body = {
            "model": model,
            "messages": messages,
            "max_tokens": max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        start = time.monotonic()
        reply = Reply()
        url = f"{self._base_url}/chat/completions"
        try:
            async with self._http.stream("POST", url, json=body, headers=self._headers) as response:
                _read_headers(reply, response)
                if response.status_code != 200:
                    reply.error = _error_text(await response.aread())
                    return reply
                done = False
                async for line in response.aiter_lines():
                    if line.startswith("data:"):
                        data = line.removeprefix("data:").strip()
                        done = done or data == "[DONE]"
                        if data != "[DONE]":
                            _read_chunk(reply, json.loads(data), show, start)
        except httpx.HTTPError as error:
            reply.error = f"{type(error).__name__}: {error}"
            return reply
        if not done and reply.error is None:
            reply.error = "The stream ended without [DONE]."
        return reply


def _read_headers(reply: Reply, response: httpx.Response) -> None:
    reply.status = response.status_code
    reply.mode = response.headers.get("X-Backscroll-Mode", "")
    reply.degraded = response.headers.get("X-Backscroll-Degraded", "")
    reply.record = response.headers.get("X-Backscroll-Record", "")
    reply.session = response.headers.get("X-Backscroll-Session", "")


def _read_chunk(reply: Reply, chunk: dict[str, Any], show: Callable[[str], None], start: float) -> None:
    if "error" in chunk:
        reply.error = str((chunk["error"] or {}).get("message", chunk["error"]))
        return
    for choice in chunk.get("choices") or ():
        piece = choice.get("delta", {}).get("content") or ""
        if piece:
            reply.first_text_s = reply.first_text_s or time.monotonic() - start
            reply.text += piece
            show(piece)
    if usage := chunk.get("usage"):
        reply.prompt_tokens = usage.get("prompt_tokens", 0)
        reply.cached_tokens = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0


def _error_text(body: bytes) -> str:
    try:
        return str(json.loads(body)["error"]["message"])[:REFUSAL_CHARS]
    except (ValueError, KeyError, TypeError):
        return body.decode("utf-8", "replace")[:REFUSAL_CHARS]
