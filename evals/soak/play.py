"""Clients play against the gateway, several at once; what comes back is judged."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx

from evals.soak.client import Asked, Client
from evals.soak.engines import Target
from evals.soak.said import PATHS, DialectName

MARGIN = 0.97
"""Below this share of what a prompt may cost a request must pass as it came."""
SLACK = 8


@dataclass(frozen=True)
class Failure:
    kind: str
    client: int
    model: str
    asked: Asked
    said: str


@dataclass
class Tally:
    requests: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    """Of each dialect, mode, way of answering and habit."""
    failures: list[Failure] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def fail(self, failure: Failure) -> None:
        self.failures.append(failure)
        self.kinds[failure.kind] += 1


class Play:
    def __init__(
        self, http: httpx.AsyncClient, targets: list[Target], seed: int, dialects: tuple[DialectName, ...]
    ) -> None:
        self.tally = Tally()
        self._dialects = dialects
        self._http = http
        self._targets = targets
        self._seed = seed

    async def run(self, requests: int, at_once: int, only: int | None = None) -> AsyncIterator[Tally]:
        """Yields the tally after every answer, until there were so many."""
        numbers = iter([only]) if only is not None else count()
        answered = asyncio.Queue[None](maxsize=1)

        async def work() -> None:
            while (number := next(numbers, None)) is not None:
                await self._client(number, answered)

        workers = [asyncio.create_task(work()) for _ in range(at_once)]
        ended: asyncio.Future[Any] = asyncio.create_task(asyncio.wait(workers))
        try:
            while self.tally.requests < requests:
                one: asyncio.Future[Any] = asyncio.create_task(answered.get())
                await asyncio.wait({one, ended}, return_when=asyncio.FIRST_COMPLETED)
                if not one.done():
                    one.cancel()
                    break
                yield self.tally
            for worker in workers:
                if worker.done():
                    worker.result()
        finally:
            for task in (*workers, ended):
                task.cancel()
            await asyncio.gather(*workers, ended, return_exceptions=True)

    async def _client(self, number: int, answered: "asyncio.Queue[None]") -> None:
        target = self._targets[number % len(self._targets)]
        client = Client(self._seed, number, target.window, target.model, self._dialects)
        for asked in client.requests():
            before = len(target.engine.refused)
            await self._ask(number, target, asked)
            # Of another client at the same engine perhaps; but of none there should be any.
            for refused in target.engine.refused[before:]:
                kind = "invalid history" if refused.invalid else "engine refused"
                self.tally.fail(Failure(kind, number, target.model, asked, refused.said))
            self.tally.requests += 1
            await answered.put(None)

    async def _ask(self, number: int, target: Target, asked: Asked) -> None:
        headers = {"x-session-id": asked.session}
        url = f"/v1/{PATHS[asked.dialect]}"
        status, mode, text = 0, "", ""
        try:
            async with self._http.stream("POST", url, json=asked.body, headers=headers) as reply:
                status, mode = reply.status_code, reply.headers.get("x-backscroll-mode", "")
                text = (await reply.aread()).decode()
        except httpx.HTTPError as error:
            text = f"{type(error).__name__}: {error}"
        self.tally.seen.update(
            (asked.dialect, mode, asked.about, "stream" if asked.body["stream"] else "whole")
        )
        wrong = _wrong(status, mode, text, asked) or self._wrong_mode(target, mode, asked)
        if wrong:
            self.tally.fail(Failure(wrong, number, target.model, asked, text[:2000]))

    def _wrong_mode(self, target: Target, mode: str, asked: Asked) -> str | None:
        """Judged where the engine's own count of the request as it came is at hand."""
        if asked.dialect != "chat" or target.kind != "plain":
            return None
        window = target.window
        limit = window - SLACK - min(asked.body.get("max_tokens") or window // 32, window // 8)
        tokens = len(target.engine.count(asked.body))
        if tokens > limit and mode != "assembled":
            return f"passed through with {tokens} tokens"
        if tokens < limit * MARGIN and mode != "passthrough":
            return "assembled although it fits"
        return None


def _wrong(status: int, mode: str, text: str, asked: Asked) -> str | None:
    if status != 200:
        code = _code(text)
        return "context error" if code == "context_length_exceeded" else f"status {status}"
    if mode not in ("passthrough", "assembled"):
        return f"mode {mode!r}"
    if asked.body["stream"]:
        if '"error"' in text and '{"error"' in text:
            return "error event"
        end = {"chat": "[DONE]", "anthropic": "message_stop", "responses": "response.completed"}
        ended = end[asked.dialect] in text or (asked.dialect == "responses" and "response.incomplete" in text)
        return None if ended else "unfinished stream"
    return None


def _code(text: str) -> Any:
    try:
        error = json.loads(text)["error"]
        return error.get("code") or (
            "context_length_exceeded" if "maximum context" in error["message"] else None
        )
    except (ValueError, KeyError, TypeError):
        return None
