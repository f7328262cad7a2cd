"""A message to chunks: one structural unit is one chunk; only a unit above the limit is split.

Neighbours are never merged: a merged chunk changes with every message that arrives, so the reference
measured 100 needless embeddings and 100 stale chunks over 40 turns. Chunks depend on their message alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from shared.contracts.events import Chunk, RecordedMessage, Unit
from shared.conversation.address import text_digest
from shared.errors import PermanentFault
from shared.text.boundaries import first_cut
from shared.text.opaque import opaque_runs
from shared.text.split import split
from shared.tokens.estimate import Coefficients, upper_bound

SHORTEST_TARGET = 400
"""Characters: below this a part says too little alone, however small `chunk_tokens` is."""


@dataclass(frozen=True)
class Limits:
    chunk_tokens: int
    """A unit above this (upper bound) is split."""
    chars_per_token: float
    coefficients: Coefficients
    overlap_tokens: int = 0
    """What a part repeats of the one before."""

    @property
    def target_chars(self) -> int:
        return max(SHORTEST_TARGET, int(self.chunk_tokens * self.chars_per_token))

    @property
    def overlap_chars(self) -> int:
        return min(int(self.overlap_tokens * self.chars_per_token), self.target_chars // 2)


def chunk_message(message: RecordedMessage, limits: Limits) -> tuple[Chunk, ...]:
    """Chunks in order of unit and part; none where nothing but blanks and encoded bytes is left.

    Offsets are code points of the unit's text. Encoded runs (images) are in no chunk. Raises
    `PermanentFault` where two units have one number: their chunks would have one id.
    """
    if len({unit.unit for unit in message.units}) < len(message.units):
        raise PermanentFault("two units of a message have one number")
    return tuple(
        Chunk(
            address=message.address,
            unit=unit.unit,
            part=part,
            start=start,
            end=end,
            role=message.role,
            kind=unit.kind,
            tool=unit.tool,
            tokens=upper_bound(unit.text[start:end], limits.coefficients),
            text=unit.text[start:end],
            digest=text_digest(unit.text[start:end]),
        )
        for unit in message.units
        for part, (start, end) in enumerate(_parts(unit, limits))
    )


def _parts(unit: Unit, limits: Limits) -> Iterator[tuple[int, int]]:
    text = unit.text
    at = 0
    for run_start, run_end in [*opaque_runs(text), (len(text), len(text))]:
        if text[at:run_start].strip():
            yield from _split(text, at, run_start, limits)
        at = run_end


def _split(text: str, start: int, end: int, limits: Limits) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if upper_bound(piece, limits.coefficients) <= limits.chunk_tokens:
        yield start, end
        return
    for a, b in split(piece, limits.target_chars):
        if piece[a:b].strip():
            overlapping = first_cut(piece, max(0, a - limits.overlap_chars), a) if limits.overlap_chars else a
            yield start + overlapping, start + b
