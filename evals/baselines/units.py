"""What a baseline ranks: messages, and parts of messages that are too long to be taken whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backscroll.engine.template import HEAD_ROLES
from evals.shown import request_texts
from shared.text.split import split

WHOLE_CHARS = 4000
"""A longer text is split: whole, one could take a small budget alone."""
PART_CHARS = 2000
"""`chunk_tokens` x `chars_per_token` of the product."""


@dataclass(frozen=True)
class Unit:
    position: int
    """Of its message."""
    role: str
    text: str


def units_of(messages: Sequence[Mapping[str, Any]]) -> list[Unit]:
    """In order; tool calls as text, system messages and blanks left out."""
    return [
        Unit(position, message["role"], part)
        for position, message in enumerate(messages)
        if message["role"] not in HEAD_ROLES
        for text in request_texts([message])
        for part in _parts(text)
    ]


def _parts(text: str) -> list[str]:
    if len(text) <= WHOLE_CHARS:
        return [text] if text.strip() else []
    return [text[start:end] for start, end in split(text, PART_CHARS) if text[start:end].strip()]
