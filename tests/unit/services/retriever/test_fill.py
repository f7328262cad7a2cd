import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.fill import WORTH_CUTTING, Taken, by_value, fill

SIZES = st.lists(st.integers(1, 900), max_size=25)


@given(SIZES, st.integers(0, 3000), st.data())
def test_never_exceeds_the_budget_and_takes_each_once(
    sizes: list[int], budget: int, data: st.DataObject
) -> None:
    rows = list(range(len(sizes)))
    must = data.draw(st.lists(st.sampled_from(rows), unique=True) if rows else st.just([]))
    order = data.draw(st.permutations(rows))
    taken = fill(order, must, np.array(sizes, dtype=np.int64), budget)
    assert sum(t.tokens for t in taken) <= budget
    assert len({t.row for t in taken}) == len(taken)
    assert [t.row for t in taken[: len(must)]] == must
    assert all(0 <= t.tokens <= sizes[t.row] for t in taken)


@given(SIZES)
def test_takes_everything_where_there_is_room(sizes: list[int]) -> None:
    tokens = np.array(sizes, dtype=np.int64)
    order = list(range(len(sizes)))
    assert fill(order, [], tokens, sum(sizes)) == [Taken(row, size) for row, size in enumerate(sizes)]


def test_the_first_that_is_too_long_is_cut_to_what_is_left() -> None:
    tokens = np.array([300, 700, 50])
    assert fill([0, 1, 2], [], tokens, 500) == [Taken(0, 300), Taken(1, 200)]


def test_what_is_left_is_not_worth_a_cut_but_holds_a_shorter_one() -> None:
    tokens = np.array([300, 700, 50])
    left = WORTH_CUTTING - 1
    assert fill([0, 1, 2], [], tokens, 300 + left) == [Taken(0, 300), Taken(2, 50)]


def test_must_comes_first_and_shares_where_it_is_too_much() -> None:
    tokens = np.array([100, 400, 400])
    assert fill([0], [1, 2], tokens, 500) == [Taken(1, 250), Taken(2, 250)]
    assert fill([0], [1], tokens, 500) == [Taken(1, 400), Taken(0, 100)]


def test_by_value_has_a_floor_and_prefers_the_newer_of_equals() -> None:
    scores, tokens = np.array([1.0, 0.9, 1.0, 1.0]), np.array([256, 4, 128, 100])
    assert by_value(scores, tokens, 1.0, 128).tolist() == [3, 2, 1, 0]
    assert by_value(scores, tokens, 0.0, 1).tolist() == [3, 2, 0, 1]
