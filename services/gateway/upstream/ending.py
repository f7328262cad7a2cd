"""What the end of an answer tells: usage, or an error under status 200. Read beside the bytes that pass."""

from dataclasses import replace
from typing import Any

import orjson

from services.gateway.dialects.base import Dialect, Usage
from services.gateway.upstream.overflow import stopped_by_window

TAIL_BYTES = 64 * 1024
"""Usage stands at the end of an answer, in a stream in one of its last events; an error ends a stream."""
FIRST_BYTES = 4 * 1024
"""Anthropic tells the length of the prompt in the first event of a stream."""
FAILED = ("error", "response.failed")


class Ending:
    """Keeps the end of what passes, and its first bytes; never holds a byte back."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._first = bytearray()
        self._tail = bytearray()

    def feed(self, part: bytes) -> None:
        if len(self._first) < FIRST_BYTES:
            self._first += part
        self._tail += part
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]

    def usage(self, *, stream: bool) -> Usage:
        """Empty where the answer tells none."""
        tail = bytes(self._tail)
        candidates = events(tail, b"usage") + events(bytes(self._first), b"usage") if stream else [tail]
        found = Usage()
        for raw in candidates:
            value = _object(raw)
            usage = self._dialect.usage_of(value) if value else None
            if usage is not None and usage.prompt_tokens is not None:
                found = usage
                break
        stops = events(tail, b"stop_reason") if stream else [tail]
        full = any(stopped_by_window(value) for raw in stops if (value := _object(raw)))
        return replace(found, window_full=full)

    def until_event(self) -> bytes:
        """What has to come before an event of ours: nothing, unless an event was broken off."""
        whole = not self._tail or self._tail.endswith((b"\n\n", b"\r\n\r\n"))
        return b"" if whole else b"\n\n"

    def error(self) -> bytes | None:
        """The error event that ended the stream."""
        return next(filter(is_error, events(bytes(self._tail), b"error")), None)


def events(stream: bytes, word: bytes) -> list[bytes]:
    """Data of the events that hold a word, newest first."""
    lines = stream.splitlines() if word in stream else []
    return [line[5:].strip() for line in reversed(lines) if line.startswith(b"data:") and word in line]


def is_error(data: bytes) -> bool:
    """vLLM, SGLang, llama.cpp, TGI: `error`; SGLang also flat; Anthropic and Responses by their type."""
    value = _object(data)
    return value is not None and (
        bool(value.get("error")) or value.get("object") == "error" or value.get("type") in FAILED
    )


def _object(raw: bytes) -> dict[str, Any] | None:
    """One JSON object; of one whose beginning is gone, its last key where that is the usage."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        at = raw.rfind(b'"usage"')
        try:
            value = orjson.loads(b"{" + raw[at:].strip()) if at >= 0 else None
        except orjson.JSONDecodeError:
            return None
    return value if isinstance(value, dict) else None
