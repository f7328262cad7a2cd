"""Packing texts into calls of the embedder."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from shared.contracts.events import Chunk


class Text(NamedTuple):
    digest: str
    text: str
    tokens: int
    """Upper bound."""


def distinct(chunks: Sequence[Chunk]) -> list[Text]:
    """Each text once, where it is first."""
    first: dict[str, Text] = {}
    for chunk in chunks:
        first.setdefault(chunk.digest, Text(chunk.digest, chunk.text, chunk.tokens))
    return list(first.values())


def batches(texts: Sequence[Text], count: int, tokens: int) -> Iterator[list[Text]]:
    """In order; at most `count` texts and `tokens` tokens each, but never less than one text."""
    pending: list[Text] = []
    size = 0
    for text in texts:
        if pending and (len(pending) == count or size + text.tokens > tokens):
            yield pending
            pending, size = [], 0
        pending.append(text)
        size += text.tokens
    if pending:
        yield pending
