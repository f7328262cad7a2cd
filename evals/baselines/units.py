"""What a baseline ranks: messages, and parts of messages that are too long to be taken whole."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backscroll.engine.template import HEAD_ROLES
from evals.shown import request_texts
from shared.settings import Settings
from shared.text.split import split
from shared.tokens.estimate import Coefficients, upper_bound

WHOLE_CHARS = 4000
"""A longer text is split: whole, one could take a small budget alone."""
_USUAL = Settings.model_fields
CHUNK_TOKENS: int = _USUAL["chunk_tokens"].default
PART_CHARS = int(CHUNK_TOKENS * _USUAL["chars_per_token"].default)
COEFFICIENTS = Coefficients(
    *(_USUAL[f"tok_per_char_{kind}"].default for kind in ("cjk", "digit", "other")),
)


@dataclass(frozen=True)
class Unit:
    position: int
    """Of its message."""
    role: str
    text: str
    passages: tuple[str, ...]
    """What is embedded of it: the chunks of the product's index, so that nothing is embedded twice."""


def units_of(messages: Sequence[Mapping[str, Any]]) -> list[Unit]:
    """In order; tool calls as text, system messages and blanks left out."""
    return [
        Unit(position, message["role"], part, passages)
        for position, message in enumerate(messages)
        if message["role"] not in HEAD_ROLES
        for text in request_texts([message])
        for part, passages in _parts(text)
    ]


def _parts(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    if not text.strip():
        return
    chunks = [text]
    if upper_bound(text, COEFFICIENTS) > CHUNK_TOKENS:
        chunks = [text[start:end] for start, end in split(text, PART_CHARS) if text[start:end].strip()]
    if len(text) <= WHOLE_CHARS:
        yield text, tuple(chunks)
    else:
        yield from ((chunk, (chunk,)) for chunk in chunks)
