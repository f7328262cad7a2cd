"""What an engine's answer tells about its prompt: usage, read beside the bytes that pass."""

from dataclasses import dataclass
from typing import Any

import orjson

TAIL_BYTES = 64 * 1024
"""Usage stands at the end of an answer, in a stream in one of its last events."""


@dataclass(frozen=True)
class Usage:
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None


class UsageReader:
    """Keeps the end of what passes; never holds a byte back."""

    def __init__(self) -> None:
        self._tail = bytearray()

    def feed(self, part: bytes) -> None:
        self._tail += part
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]

    def read(self, *, stream: bool) -> Usage:
        if not stream:
            return usage_of(bytes(self._tail))
        for line in reversed(self._tail.split(b"\n")):
            if line.startswith(b"data:") and b'"usage"' in line:
                usage = usage_of(bytes(line[5:].strip()))
                if usage.prompt_tokens is not None:
                    return usage
        return Usage()


def usage_of(raw: bytes) -> Usage:
    """Of one JSON object; empty where it tells none, or where its beginning is already gone."""
    at = raw.rfind(b'"usage"')
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        value = _tail_object(raw, at)
    usage = value.get("usage") if isinstance(value, dict) else None
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details")
    return Usage(
        prompt_tokens=_integer(usage, "prompt_tokens"),
        cached_tokens=_integer(details, "cached_tokens") if isinstance(details, dict) else None,
        completion_tokens=_integer(usage, "completion_tokens"),
    )


def _tail_object(raw: bytes, at: int) -> object:
    """The end of an answer that is longer than what was kept: its last key is the usage."""
    if at < 0:
        return None
    try:
        return orjson.loads(b"{" + raw[at:].strip())
    except orjson.JSONDecodeError:
        return None


def _integer(value: dict[str, Any], name: str) -> int | None:
    found = value.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
