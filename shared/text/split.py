"""Splitting a long text in parts that can be read alone."""

from shared.text.boundaries import last_cut
from shared.text.opaque import opaque_runs


def split(text: str, target_chars: int) -> list[tuple[int, int]]:
    """Ranges in order that cover the text, of at most `target_chars` where there is anywhere to cut.

    Opaque runs are left out: between them the ranges are adjacent. No range starts or ends inside a
    grapheme cluster. Takes linear time.
    """
    parts: list[tuple[int, int]] = []
    at = 0
    for start, end in [*opaque_runs(text), (len(text), len(text))]:
        parts += _split_between(text, at, start, target_chars)
        at = end
    return parts


def _split_between(text: str, start: int, end: int, target: int) -> list[tuple[int, int]]:
    parts = []
    while start < end:
        left = end - start
        # The last two share what is left, so that no splinter of a line becomes a part of its own.
        room = target if left >= target * 3 // 2 else max(1, left * 2 // 3)
        cut = end if left <= target else min(end, last_cut(text, start, start + room))
        parts.append((start, cut))
        start = cut
    return parts
