"""Excerpts inside a message, found again: what of its text is quoted, and from where."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from services.gateway.inspector.recorded import Record
from shared.prompt.plan import Excerpt
from shared.prompt.render import BLOCK_OPENING, CLOSING, PATCH_OPENING

LABEL = re.compile(r"(?:--- turn \d+ ---\n)?\[([^\n]*?)\] ")
ESCAPED = re.compile(r"<\\/?excerpts>")
"""How a quotation writes the marks of its frame: each is one character longer."""


@dataclass(frozen=True)
class Quote:
    position: int
    unit: int
    start: int
    end: int
    turn: int | None


@dataclass(frozen=True)
class Piece:
    """`part` is `text` for the client's own words, `frame` for our lines, else `block` or `patch`."""

    part: str
    text: str
    quote: Quote | None = None


def pieces_of(text: str, record: Record) -> Iterator[Piece]:
    """The text in pieces; joined they are the text again."""
    rest = text
    while True:
        found = [(at, opening) for opening in _openings() if (at := rest.find(opening)) >= 0]
        end = rest.find(CLOSING, min(found)[0]) if found else -1
        if end < 0:
            break
        at, opening = min(found)
        if at:
            yield Piece("text", rest[:at])
        part = "block" if opening == BLOCK_OPENING else "patch"
        yield Piece("frame", opening)
        yield from _quoted(rest[at + len(opening) : end], part, record)
        yield Piece("frame", rest[end : end + len(CLOSING)])
        rest = rest[end + len(CLOSING) :]
    if rest:
        yield Piece("text", rest)


def _openings() -> tuple[str, str]:
    return BLOCK_OPENING, PATCH_OPENING


def _quoted(inner: str, part: str, record: Record) -> Iterator[Piece]:
    """By the lengths that the layout tells, since a text may look like a label; else as one piece."""
    groups = [record.layout.block] if part == "block" else [p.excerpts for p in record.layout.patches]
    for excerpts in groups:
        if pieces := _aligned(inner, part, _joined(excerpts), record):
            yield from pieces
            return
    yield Piece(part, inner)


def _aligned(inner: str, part: str, quotes: list[Excerpt], record: Record) -> list[Piece]:
    """Empty where these are not the quotations of this frame."""
    pieces: list[Piece] = []
    at = 0
    for number, quote in enumerate(quotes, start=1):
        label = LABEL.match(inner, at)
        end = label and _end(inner, label.end(), quote.end - quote.start, number == len(quotes))
        if not label or not end:
            return []
        pieces.append(Piece("frame", label[0]))
        position, unit, start, stop, *_ = quote
        where = Quote(position, unit, start, stop, record.turn(position))
        pieces.append(Piece(part, inner[label.end() : end], where))
        at = end
    return pieces


def _end(inner: str, start: int, length: int, last: bool) -> int | None:
    """Where a quotation of a text of this length ends, its line's end included.

    Marks in it were made longer, and nobody knows which were such marks: what comes after must fit.
    """
    marks = len(ESCAPED.findall(inner, start, start + 2 * length))
    for longer in range(marks + 1):
        end = start + length + longer
        end += inner[end - 1 : end] != "\n"
        if end == len(inner) if last else LABEL.match(inner, end):
            return end
    return None


def _joined(excerpts: tuple[Excerpt, ...]) -> list[Excerpt]:
    """As they are rendered: in order, adjoining ranges of a unit as one."""
    joined: list[Excerpt] = []
    for _, group in groupby(sorted(excerpts), key=lambda e: (e.position, e.unit)):
        runs: list[Excerpt] = []
        for e in group:
            if runs and runs[-1].end >= e.start:
                runs[-1] = runs[-1]._replace(end=max(runs[-1].end, e.end))
            else:
                runs.append(e)
        joined += runs
    return joined
