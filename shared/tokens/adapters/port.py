"""What a way of counting is, and how an engine is asked."""

from dataclasses import dataclass
from typing import Any, Protocol

import httpx
import orjson

from shared.errors import BadAnswer, DependencyUnavailable
from shared.tokens.prompt import Prompt

PART = "count_estimated"


class NotOfferedError(Exception):
    """The engine has no such endpoint, or not for this form of a prompt: try another way."""


class Adapter(Protocol):
    @property
    def name(self) -> str:
        """As the setting `token_counter` names it."""

    async def count(self, prompt: Prompt) -> int:
        """Tokens of the whole prompt, the opening of the answer included.

        Raises `NotOfferedError`, or `DependencyUnavailable` where the engine does not answer just now.
        """


@dataclass(frozen=True)
class Line:
    """To one engine. `url` carries `/v1`; some endpoints stand beside it."""

    client: httpx.AsyncClient
    url: str
    timeout_s: float
    api_key: str | None = None

    @property
    def root(self) -> str:
        return self.url.rstrip("/").removesuffix("/v1")

    async def post(self, path: str, body: bytes) -> dict[str, Any]:
        """`path` under the root. Raises as `Adapter.count` does."""
        return _object(await self._send("POST", path, body))

    async def get(self, path: str) -> Any:
        """The JSON of an answer, None for one that is none."""
        return _json(await self._send("GET", path, b""))

    async def _send(self, method: str, path: str, body: bytes) -> httpx.Response:
        headers = {"content-type": "application/json"}
        if self.api_key:
            headers |= {"authorization": f"Bearer {self.api_key}", "x-api-key": self.api_key}
        try:
            reply = await self.client.request(
                method, f"{self.root}/{path}", content=body, headers=headers, timeout=self.timeout_s
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise DependencyUnavailable(PART, f"/{path}: {type(error).__name__}") from error
        if reply.status_code in (408, 429) or (reply.status_code >= 500 and reply.status_code != 501):
            raise BadAnswer(PART, f"/{path}: status {reply.status_code}")
        if reply.status_code != 200:
            raise NotOfferedError(f"/{path}: status {reply.status_code}")
        return reply


def chat_body(prompt: Prompt, names: tuple[str, ...], more: tuple[bytes, ...] = ()) -> bytes:
    """The chat body with the given fields of the request. Raises `NotOfferedError` for other dialects."""
    if prompt.dialect != "chat":
        raise NotOfferedError(f"chat prompts only, not {prompt.dialect}")
    return body(prompt, names, more)


def body(prompt: Prompt, names: tuple[str, ...], more: tuple[bytes, ...] = ()) -> bytes:
    kept = [orjson.dumps(name) + b":" + prompt.fields[name] for name in names if name in prompt.fields]
    model = b'"model":' + orjson.dumps(prompt.model)
    return b"{" + b",".join([model, *kept, b'"messages":[' + b",".join(prompt.messages) + b"]", *more]) + b"}"


def number(answer: dict[str, Any], name: str) -> int:
    """A positive count. LM Studio answers 200 to paths that it does not know; then there is none."""
    value = answer.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise NotOfferedError(f"no '{name}' in the answer")
    return value


def _json(reply: httpx.Response) -> Any:
    try:
        return orjson.loads(reply.content)
    except orjson.JSONDecodeError:
        return None


def _object(reply: httpx.Response) -> dict[str, Any]:
    value = _json(reply)
    if not isinstance(value, dict):
        raise NotOfferedError("the answer is no JSON object")
    return value
