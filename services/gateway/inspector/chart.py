"""The numbers of a session's chart; the template draws them as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.gateway.inspector.timeline import Row

STEP = 22
HEIGHT = 120
LANE = 20
MARGIN = 14


@dataclass(frozen=True)
class Bar:
    row: Row
    x: int
    """Of the middle."""
    height: float
    shared: float
    """Of the height: what the engine had read before."""
    y: int
    """Of its point in the drawing of forks."""


@dataclass(frozen=True)
class Line:
    x1: int
    y1: int
    x2: int
    y2: int


@dataclass(frozen=True)
class Chart:
    width: int
    height: int
    bars: list[Bar]
    lines: list[Line]
    limits: list[Line]
    """What a prompt might cost, from request to request."""


def chart_of(rows: Sequence[Row]) -> Chart:
    top = max([1, *(row.tokens for row in rows), *(int(row.told.get("limit") or 0) for row in rows)])
    bars = [_bar(index, row, top) for index, row in enumerate(rows)]
    points = {bar.row.number: bar for bar in bars}
    lines = [
        Line(points[bar.row.parent].x, points[bar.row.parent].y, bar.x, bar.y)
        for bar in bars
        if bar.row.parent is not None
    ]
    levels = [(bar.x, _level(int(bar.row.told.get("limit") or 0), top)) for bar in bars]
    limits = [Line(x1, y1, x2, y1) for (x1, y1), (x2, _) in pairwise([*levels, _after(levels)])]
    lanes = max((row.lane for row in rows), default=0) + 1
    return Chart(
        width=2 * MARGIN + STEP * max(len(rows), 1),
        height=HEIGHT + 2 * MARGIN + LANE * lanes,
        bars=bars,
        lines=lines,
        limits=limits,
    )


def _bar(index: int, row: Row, top: int) -> Bar:
    height = row.tokens / top * HEIGHT
    shared = int(row.told.get("shared") or 0) / max(row.tokens, 1)
    x = MARGIN + STEP * index + STEP // 2
    return Bar(row, x, height, min(shared, 1.0) * height, HEIGHT + MARGIN + LANE * row.lane + LANE // 2)


def _level(tokens: int, top: int) -> int:
    return HEIGHT - round(tokens / top * HEIGHT)


def _after(levels: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return (levels[-1][0] + STEP // 2, levels[-1][1]) if levels else (0, 0)
