"""Server-sent events out of bytes that can be cut anywhere."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Comment:
    line: bytes


@dataclass
class Decoder:
    """Complete events only, so a character is never decoded in halves."""

    _rest: bytes = b""
    _data: list[bytes] = field(default_factory=list)

    def feed(self, part: bytes) -> list[bytes | Comment]:
        """Data of each event that is complete, and comments, in order."""
        *lines, self._rest = (self._rest + part).split(b"\n")
        return [found for line in lines if (found := self._line(line.removesuffix(b"\r"))) is not None]

    def end(self) -> list[bytes | Comment]:
        """What an engine that sends no empty line at the end has left."""
        return self.feed(b"\n\n")

    def _line(self, line: bytes) -> bytes | Comment | None:
        if line.startswith(b":"):
            return Comment(line)
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            data, self._data = b"\n".join(self._data), []
            return data
        return None


def event(kind: str, data: bytes) -> bytes:
    return b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"
