"""The engine, over HTTP: forwards a body, hands back status, headers and bytes as they come."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

import httpx

from shared.errors import EngineUnavailable

HOP_BY_HOP = {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"} | {
    "proxy-authenticate",
    "proxy-authorization",
}
NOT_FORWARDED = HOP_BY_HOP | {"host", "content-length", "accept-encoding", "expect"}
NOT_RETURNED = HOP_BY_HOP | {"content-length", "content-encoding", "date", "server"}


@dataclass(frozen=True)
class Reply:
    """An engine's answer whose body is still coming; `close` it, also when it was not read to the end."""

    status: int
    headers: dict[str, str]
    body: AsyncIterator[bytes]
    close: AsyncExitStack


class Engine:
    def __init__(self, client: httpx.AsyncClient, url: str, api_key: str | None) -> None:
        self._client = client
        self._url = url.rstrip("/")
        self._api_key = api_key

    async def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Raises `EngineUnavailable` where no status line comes back."""
        stack = AsyncExitStack()
        try:
            reply = await stack.enter_async_context(
                self._client.stream(
                    method, f"{self._url}/{path}", headers=self._headers(headers), content=body
                )
            )
        except httpx.HTTPError as error:
            raise EngineUnavailable(f"The engine cannot be reached: {type(error).__name__}.") from error
        returned = {k: v for k, v in reply.headers.items() if k not in NOT_RETURNED}
        return Reply(reply.status_code, returned, _bytes(reply), stack)

    def _headers(self, client: Mapping[str, str]) -> dict[str, str]:
        kept = {
            name: value
            for name, value in client.items()
            if name not in NOT_FORWARDED and not name.startswith("x-backscroll-")
        }
        # What passes is read on the way, so it must not come compressed.
        kept["accept-encoding"] = "identity"
        if self._api_key and "authorization" not in kept:
            kept["authorization"] = f"Bearer {self._api_key}"
        return kept


async def _bytes(reply: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for part in reply.aiter_raw():
            yield part
    except httpx.HTTPError as error:
        raise EngineUnavailable(f"The engine broke off its answer: {type(error).__name__}.") from error
