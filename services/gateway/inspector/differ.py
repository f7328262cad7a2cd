"""Two prompts side by side: messages, excerpts, candidates."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from services.gateway.inspector.prompt import Shown
from services.gateway.inspector.recorded import Record, Told
from shared.prompt.plan import Excerpt, Layout

Side = Literal["both", "left", "right"]
Key = tuple[object, ...]


@dataclass(frozen=True)
class Run:
    """Messages that stand on both sides, or on one."""

    side: Side
    messages: list[Shown]


@dataclass(frozen=True)
class Moved:
    """An excerpt of either prompt; `text` is empty where the records do not hold it."""

    side: Side
    position: int
    unit: int
    start: int
    end: int
    turn: int | None
    tokens: int
    text: str


@dataclass(frozen=True)
class Weighed:
    """A candidate on both sides; None where one did not rank it."""

    left: Told | None
    right: Told | None

    @property
    def either(self) -> Told:
        told = self.left or self.right
        assert told is not None  # noqa: S101
        return told

    @property
    def change(self) -> str:
        left, right = bool(self.left and self.left.taken), bool(self.right and self.right.taken)
        if left == right:
            return "taken by both" if left else "dropped by both"
        return "lost" if left else "gained"


def runs_of(left: Sequence[Shown], right: Sequence[Shown]) -> list[Run]:
    """Oldest first. The first run is the prefix that both share, where they share one."""
    matcher = SequenceMatcher(None, [m.key for m in left], [m.key for m in right], autojunk=False)
    runs: list[Run] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            runs.append(Run("both", list(left[a:b])))
            continue
        if a < b:
            runs.append(Run("left", list(left[a:b])))
        if c < d:
            runs.append(Run("right", list(right[c:d])))
    return runs


def moved_of(left: Record, before: Layout, right: Record, after: Layout) -> list[Moved]:
    """Excerpts of block and patches. Places are compared by what their message says, where that is known."""
    was = {_place(left, e): e for e in before.quoted}
    now = {_place(right, e): e for e in after.quoted}
    moved = []
    for place in sorted(was.keys() | now.keys(), key=lambda p: now.get(p) or was[p]):
        side: Side = "both" if place in was and place in now else "left" if place in was else "right"
        e, record = (now[place], right) if place in now else (was[place], left)
        text = _text(right, e) or _text(left, e)
        moved.append(Moved(side, e.position, e.unit, e.start, e.end, record.turn(e.position), e.tokens, text))
    return moved


def weighed_of(left: Record, was: Sequence[Told], right: Record, now: Sequence[Told]) -> list[Weighed]:
    """Those that one side took and the other did not first, then by score."""
    before = {_chunk(left, c): c for c in was}
    after = {_chunk(right, c): c for c in now}
    pairs = [Weighed(before.get(chunk), after.get(chunk)) for chunk in {**before, **after}]
    order = ("gained", "lost", "taken by both", "dropped by both")
    return sorted(pairs, key=lambda w: (order.index(w.change), -w.either.score))


def _place(record: Record, e: Excerpt) -> Key:
    return (record.address(e.position) or e.position, e.unit, e.start, e.end)


def _chunk(record: Record, c: Told) -> Key:
    return (record.address(c.position) or c.position, c.unit, c.part)


def _text(record: Record, e: Excerpt) -> str:
    """What the record's candidates tell of it."""
    found = (c.text for c in record.candidates if c.text and (c.position, c.unit, c.start) == e[:3])
    return next(found, "")
