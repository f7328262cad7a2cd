"""Comparing what was cut and what was found."""

from hypothesis import given
from hypothesis import strategies as st

from backscroll.replay.compare import Cut, Key, cuts_of, found_of
from shared.contracts.events import Chunk
from tests.support.chunks import chunk

places = st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.integers(0, 30), st.integers(1, 20)).map(
    lambda p: (p[0], p[1], p[2], p[2] + p[3])
)
keys = st.lists(places, max_size=12)


def characters(found: list[Key]) -> set[tuple[str, int, int]]:
    return {(address, unit, at) for address, unit, start, end in found for at in range(start, end)}


@given(keys, keys)
def test_found_is_counted_in_characters_each_once(before: list[Key], after: list[Key]) -> None:
    was, now = characters(before), characters(after)
    found = found_of(before, after)
    assert (found.before, found.after, found.both) == (len(was), len(now), len(was & now))
    assert 0 <= found.share <= 1


def test_what_was_not_there_is_lost_nowhere() -> None:
    assert found_of([], [("a", 0, 0, 5)]).share == 1.0


def cut(address: str, start: int, end: int, tokens: int) -> tuple[Key, Chunk]:
    made = chunk("x" * (end - start), address, start=start, tokens=tokens)
    return (address, 0, start, end), made


def test_cuts_are_compared_by_their_places() -> None:
    before = dict([cut("a", 0, 10, 4), cut("b", 0, 30, 12)])
    after = dict([cut("a", 0, 10, 4), cut("b", 0, 15, 6), cut("b", 15, 30, 7)])
    cuts = cuts_of(before, after)
    assert cuts.before == Cut(2, 16, 12)
    assert cuts.after == Cut(3, 17, 7)
    assert (cuts.alike, cuts.changed) == (1, 1)
    assert (cuts.before.mean, Cut(0, 0, 0).mean) == (8.0, 0.0)
