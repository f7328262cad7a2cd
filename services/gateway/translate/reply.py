"""An engine's reply to a translated request, as the client's dialect tells it."""

from collections.abc import AsyncIterator
from dataclasses import replace

from services.gateway.http.headers import Pairs
from services.gateway.translate.translation import Translation
from services.gateway.upstream.engine import Reply

OF_ITS_DIALECT = ("anthropic-version", "anthropic-beta", "openai-beta")


def for_chat(headers: Pairs) -> Pairs:
    """A client's headers, for an engine that takes its key as a bearer token."""
    names = {name.lower() for name, _ in headers}
    kept: Pairs = []
    for name, value in headers:
        if name.lower() == "x-api-key":
            if "authorization" not in names:
                kept.append(("authorization", f"Bearer {value}"))
        elif name.lower() not in OF_ITS_DIALECT:
            kept.append((name, value))
    return kept


def translated(reply: Reply, translation: Translation) -> Reply:
    """A stream as it comes; anything else once it is whole."""
    if reply.status == 200 and reply.is_stream:
        return replace(reply, body=_stream(reply, translation))
    headers = [(n, v) for n, v in reply.headers if n not in ("content-length", "content-type")]
    headers.append(("content-type", "application/json"))
    return replace(reply, headers=headers, body=_whole(reply, translation))


async def _stream(reply: Reply, translation: Translation) -> AsyncIterator[bytes]:
    stream = translation.stream()
    async for part in reply.body:
        written = stream.feed(part)
        if written:
            yield written
    rest = stream.end()
    if rest:
        yield rest


async def _whole(reply: Reply, translation: Translation) -> AsyncIterator[bytes]:
    yield translation.answer(reply.status, b"".join([part async for part in reply.body]))
