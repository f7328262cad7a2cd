"""One POST to a model server, and what its failures mean."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import orjson
import tenacity
from opentelemetry.trace import SpanKind

from shared.errors import BadAnswer, DependencyUnavailable, PermanentFault, TextTooLarge
from shared.models.refusals import Cause, Refusal, judge, message_of
from shared.tracing import carrier, span


class BatchTooBig(Exception):
    """The server takes fewer inputs a request. Never leaves shared/models."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.cause.value)
        self.limit = refusal.limit

    def smaller(self, size: int) -> int:
        """A batch size below `size`, at least 1."""
        if self.limit and self.limit < size:
            return self.limit
        return max(1, size // 2)


class ModelServer:
    """A JSON endpoint that embeds or reranks.

    `part` names it in `DependencyUnavailable`. `url` may be the endpoint itself or the base before it.
    """

    def __init__(self, url: str, endpoint: str, part: str, timeout_s: float) -> None:
        base = url.rstrip("/")
        self.url = base if base.endswith(endpoint) else base + endpoint
        self.part = part
        self.timeout_s = timeout_s
        # No read timeout of its own: `timeout_s` bounds the whole call.
        self._client = httpx.AsyncClient(timeout=httpx.Timeout(None, connect=min(5.0, timeout_s)))

    async def post(self, body: Mapping[str, Any]) -> Any:
        """The decoded answer.

        Raises `DependencyUnavailable` (`BadAnswer` where the input may be the reason), `TextTooLarge`,
        `BatchTooBig`, or `PermanentFault` for any other refusal of the input.
        """
        try:
            with span(self.part.removesuffix("_unavailable"), SpanKind.CLIENT):
                async with asyncio.timeout(self.timeout_s):
                    response = await self._send(orjson.dumps(body))
        except TimeoutError as error:
            raise DependencyUnavailable(self.part, f"no answer within {self.timeout_s:g} s") from error
        except httpx.HTTPError as error:
            raise DependencyUnavailable(self.part, f"{type(error).__name__}: {error}") from error
        if response.status_code != 200:
            self._refuse(response)
        try:
            return orjson.loads(response.content)
        except orjson.JSONDecodeError as error:
            raise BadAnswer(self.part, "the answer is not JSON") from error

    # A kept-alive connection that the server has just closed fails on first use and says nothing about the
    # server. Everything else is left to the caller: the bus holds and retries with heartbeats, a query has a
    # deadline.
    @tenacity.retry(
        retry=tenacity.retry_if_exception_type(
            (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
        ),
        stop=tenacity.stop_after_attempt(2),
        reraise=True,
    )
    async def _send(self, content: bytes) -> httpx.Response:
        headers = {"content-type": "application/json", **carrier()}
        return await self._client.post(self.url, content=content, headers=headers)

    def _refuse(self, response: httpx.Response) -> None:
        message = message_of(response.content)
        refusal = judge(response.status_code, message)
        said = f"{response.status_code} from the server: {message}"
        match refusal.cause:
            case Cause.TOO_LARGE:
                raise TextTooLarge(said)
            case Cause.BATCH_TOO_BIG:
                raise BatchTooBig(refusal)
            case Cause.REFUSED:
                raise PermanentFault(said)
            case Cause.BROKEN:
                raise BadAnswer(self.part, said)
            case Cause.PASSING:
                raise DependencyUnavailable(self.part, said)

    async def close(self) -> None:
        await self._client.aclose()


def sendable(text: str) -> str:
    """Lone surrogates have no UTF-8 form; clients cut JSON strings in the middle of a pair."""
    return text.encode("utf-8", "replace").decode()
