"""Two ways of cutting the same messages, and two ways of choosing for the same request: pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from shared.contracts.events import Chunk

Key = tuple[str, int, int, int]
"""Address, unit, start, end."""


@dataclass(frozen=True)
class Cut:
    chunks: int
    tokens: int
    longest: int
    """Tokens, by the upper bound."""

    @property
    def mean(self) -> float:
        return self.tokens / max(self.chunks, 1)


@dataclass(frozen=True)
class Cuts:
    before: Cut
    after: Cut
    alike: int
    """Chunks that both have, at the same place."""
    changed: int
    """Messages that are cut at other places."""


def cut_of(chunks: Collection[Chunk]) -> Cut:
    tokens = [chunk.tokens for chunk in chunks]
    return Cut(len(tokens), sum(tokens), max(tokens, default=0))


def cuts_of(before: Mapping[Key, Chunk], after: Mapping[Key, Chunk]) -> Cuts:
    differ = before.keys() ^ after.keys()
    return Cuts(
        cut_of(before.values()),
        cut_of(after.values()),
        len(before.keys() & after.keys()),
        len({address for address, *_ in differ}),
    )


@dataclass(frozen=True)
class Found:
    """Characters of the history."""

    before: int
    after: int
    both: int

    @property
    def share(self) -> float:
        """Of what was found before, what is found after too; 1 where nothing was."""
        return self.both / self.before if self.before else 1.0


def found_of(before: Iterable[Key], after: Iterable[Key]) -> Found:
    """By characters: chunks that are cut elsewhere hold the same text all the same."""
    was, now = _merged(before), _merged(after)
    return Found(_length(was), _length(now), _overlap(was, now))


Ranges = dict[tuple[str, int], list[tuple[int, int]]]


def _merged(keys: Iterable[Key]) -> Ranges:
    found: Ranges = {}
    for address, unit, start, end in sorted(keys):
        ranges = found.setdefault((address, unit), [])
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = ranges[-1][0], max(end, ranges[-1][1])
        else:
            ranges.append((start, end))
    return found


def _length(ranges: Ranges) -> int:
    return sum(end - start for each in ranges.values() for start, end in each)


def _overlap(was: Ranges, now: Ranges) -> int:
    return sum(
        max(0, min(end, to) - max(start, at))
        for unit, each in was.items()
        for start, end in each
        for at, to in now.get(unit, ())
    )
