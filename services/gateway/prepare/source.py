"""What exactly was counted: digests of a request's raw bytes.

Addresses leave out what clients change on the way, and system messages altogether; the engine counts all
of it. So a count holds for a later request only where these bytes are the same. Anthropic's cache marks
move with every request and cost no token; they alone are left out.
"""

import hashlib
import re
from collections.abc import Iterable

from services.gateway.reading.request import Request

CACHE_MARK = re.compile(rb',\s*"cache_control"\s*:\s*\{[^{}]*\}|"cache_control"\s*:\s*\{[^{}]*\}\s*,')
"""An unescaped quote cannot stand inside a JSON string, so this is never part of a text."""


def head_source(request: Request) -> str:
    """Of the leading system messages and the fields that become part of the prompt."""
    fields = request.body.fields
    named = [name.encode() + b"\0" + fields[name] for name in request.dialect.HEAD if name in fields]
    return _digest(map(_plain, [*named, *request.body.messages[: request.shape.head]]))


def body_source(request: Request, length: int) -> str:
    """Of the first so many addressed messages, with what stands before them without an address.

    Planning, counting and the account each ask for the tip's, so it is kept with the request.
    """
    found = request.sources.get(length)
    if found is None:
        found = request.sources[length] = _body_source(request, length)
    return found


def _body_source(request: Request, length: int) -> str:
    first, last = request.shape.head, request.shape.firsts[length]
    digests = request.digests[first:last]
    if b'"cache_control"' in request.body.raw:
        messages = request.body.messages[first:last]
        digests = [
            request.digest(_plain(raw)) if b'"cache_control"' in raw else digest
            for raw, digest in zip(messages, digests, strict=True)
        ]
    # All are of one length, so no length needs to stand before each: 1.2 ms for 10,000 instead of 5.6.
    return _own(b"".join(digests)).hex()


def _plain(raw: bytes) -> bytes:
    return CACHE_MARK.sub(b"", raw) if b'"cache_control"' in raw else raw


def _own(raw: bytes) -> bytes:
    return hashlib.blake2b(raw, digest_size=16).digest()


def _digest(parts: Iterable[bytes]) -> str:
    whole = hashlib.blake2b(digest_size=16)
    for part in parts:
        whole.update(len(part).to_bytes(8, "little") + part)
    return whole.hexdigest()
