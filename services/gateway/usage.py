"""Usage, read beside the bytes of an answer that passes."""

import orjson

from services.gateway.dialects.base import Dialect, Usage

TAIL_BYTES = 64 * 1024
"""Usage stands at the end of an answer, in a stream in one of its last events."""


class UsageReader:
    """Keeps the end of what passes; never holds a byte back."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._tail = bytearray()

    def feed(self, part: bytes) -> None:
        self._tail += part
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]

    def read(self, *, stream: bool) -> Usage:
        """Empty where the answer tells none."""
        candidates = self._events() if stream else [bytes(self._tail)]
        for raw in candidates:
            value = _object(raw)
            usage = self._dialect.usage_of(value) if value else None
            if usage is not None and usage.prompt_tokens is not None:
                return usage
        return Usage()

    def _events(self) -> list[bytes]:
        """Data of the events that may tell usage, newest first."""
        lines = self._tail.split(b"\n")
        return [
            bytes(line[5:].strip())
            for line in reversed(lines)
            if line.startswith(b"data:") and b"usage" in line
        ]


def _object(raw: bytes) -> dict[str, object] | None:
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
