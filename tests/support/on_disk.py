"""Whether a text is in any file of a directory, whatever form it was put there in."""

from pathlib import Path

import zstandard

FRAME = b"\x28\xb5\x2f\xfd"
MOST = 64 * 1024**2


def files_with(directory: Path, text: str) -> list[str]:
    """As it is, or inside anything that can be decompressed: bodies on the bus are zstd frames."""
    wanted = text.encode()
    return sorted(
        str(file.relative_to(directory))
        for file in directory.rglob("*")
        if file.is_file() and _holds(file.read_bytes(), wanted)
    )


def _holds(data: bytes, wanted: bytes) -> bool:
    if wanted in data:
        return True
    start = data.find(FRAME)
    while start >= 0:
        if wanted in _beginning(data[start : start + MOST]):
            return True
        start = data.find(FRAME, start + 1)
    return False


def _beginning(frame: bytes) -> bytes:
    """As much of it as can still be read."""
    reader = zstandard.ZstdDecompressor().stream_reader(frame)
    read = b""
    try:
        while part := reader.read(4096):
            read += part
    except zstandard.ZstdError:
        pass
    return read
