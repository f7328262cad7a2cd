"""One engine, over HTTP: forwards a body, hands back status, headers and bytes as they come."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, replace

import httpx
from opentelemetry.trace import SpanKind

from services.gateway.http.headers import Pairs, forwarded, is_stream, returned
from services.gateway.http.respond import raw
from services.gateway.upstream.breaker import Breaker
from shared.errors import BackscrollError, EngineTimeout, EngineUnavailable
from shared.tracing import carrier, span

NOT_ITS_FAULT = 501
"""An engine that does not implement something is well."""


@dataclass(frozen=True)
class Reply:
    """An engine's answer whose body is still coming; `close` it, also when it was not read to the end.

    The first part of the body is there already. `body` raises `EngineTimeout` and `EngineUnavailable`.
    """

    status: int
    headers: Pairs
    body: AsyncIterator[bytes]
    close: Callable[[], Awaitable[None]]

    @property
    def is_stream(self) -> bool:
        return is_stream(self.headers)

    def put_back(self, parts: list[bytes]) -> "Reply":
        """The reply with parts that were read of it in front again."""

        async def again() -> AsyncIterator[bytes]:
            for part in parts:
                yield part
            async for part in self.body:
                yield part

        return replace(self, body=again())


@dataclass(frozen=True)
class Patience:
    """How long an engine may take, seconds: `total` for a whole answer, `idle` between two parts of one."""

    total: float
    idle: float


class Engine:
    def __init__(
        self, name: str, client: httpx.AsyncClient, url: str, api_key: str | None, patience: Patience
    ) -> None:
        self.name = name
        self.breaker = Breaker(name)
        self._client = client
        self._url = httpx.URL(url.rstrip("/"))
        self._api_key = api_key
        self._patience = patience

    async def send(
        self,
        method: str,
        path: str,
        headers: Iterable[tuple[str, str]],
        body: bytes | AsyncIterable[bytes],
        query: bytes = b"",
    ) -> Reply:
        """Raises `EngineUnavailable` where no answer comes; returns when its first bytes are there.

        Until then the caller's own answer has not begun, so that every failure keeps its status.
        """
        self.breaker.admit()
        with span("engine", SpanKind.CLIENT, engine=self.name) as current:
            reply = await self._open(method, path, headers, body, query)
            current.set_attribute("http.response.status_code", reply.status)
            return reply

    async def _open(
        self,
        method: str,
        path: str,
        headers: Iterable[tuple[str, str]],
        body: bytes | AsyncIterable[bytes],
        query: bytes,
    ) -> Reply:
        target = self._url.raw_path + b"/" + path.encode() + (b"?" + query if query else b"")
        kept, traced = forwarded(headers, self._api_key), carrier()
        request = self._client.build_request(
            method,
            self._url.copy_with(raw_path=target),
            # Ours continues the client's trace, where it sent one.
            headers=raw([*(p for p in kept if p[0] not in traced), *traced.items()]),
            content=body,
        )
        deadline = asyncio.get_running_loop().time() + self._patience.total
        reply: httpx.Response | None = None
        try:
            async with asyncio.timeout_at(deadline):
                reply = await self._client.send(request, stream=True)
                parts = reply.aiter_raw()
                first = await anext(parts, None)
        except BaseException as error:
            if reply is not None:
                await reply.aclose()
            if isinstance(error, TimeoutError | httpx.HTTPError):
                self.breaker.failed()
                raise self._failure(error) from error
            raise
        if reply.status_code >= 500 and reply.status_code != NOT_ITS_FAULT:
            self.breaker.failed()
        else:
            self.breaker.succeeded()
        passing = self._parts(first, parts, deadline)
        told = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in reply.headers.raw]
        return Reply(reply.status_code, returned(told), passing, reply.aclose)

    async def _parts(
        self, first: bytes | None, parts: AsyncIterator[bytes], deadline: float
    ) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        part = first
        while part is not None:
            yield part
            try:
                async with asyncio.timeout_at(min(loop.time() + self._patience.idle, deadline)):
                    part = await anext(parts, None)
            except (TimeoutError, httpx.HTTPError) as error:
                raise self._failure(error) from error

    def _failure(self, error: TimeoutError | httpx.HTTPError) -> BackscrollError:
        if isinstance(error, TimeoutError):
            idle, total = self._patience.idle, self._patience.total
            return EngineTimeout(
                f"The engine was silent for {idle:g} s in its answer, or took over {total:g} s for all of it."
            )
        return EngineUnavailable(f"The engine cannot be reached or broke off: {type(error).__name__}.")
