"""Chunks and messages cut into them, in few words."""

from shared.contracts.base import Kind, Role
from shared.contracts.events import Chunk, ChunkedMessage
from shared.conversation.address import text_digest


def chunk(
    text: str,
    address: str = "0" * 32,
    *,
    unit: int = 0,
    part: int = 0,
    start: int = 0,
    role: Role = Role.USER,
    kind: Kind = Kind.USER,
    tool: str | None = None,
    tokens: int | None = None,
) -> Chunk:
    """A token per character where none are told: no tokenizer makes more of ASCII."""
    return Chunk(
        address=address,
        unit=unit,
        part=part,
        start=start,
        end=start + len(text),
        role=role,
        kind=kind,
        tool=tool,
        tokens=max(1, len(text)) if tokens is None else tokens,
        text=text,
        digest=text_digest(text),
    )


def chunked(address: str, *texts: str) -> ChunkedMessage:
    """A message of one unit; each text is a part of it."""
    chunks = tuple(chunk(text, address, part=part) for part, text in enumerate(texts))
    return ChunkedMessage(address=address, chunks=chunks)


def numbered(number: int, *texts: str) -> ChunkedMessage:
    """The same; its address is its number."""
    return chunked(f"{number:032x}", *texts)
