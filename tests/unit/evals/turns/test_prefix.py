"""What of a prompt was computed before."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backscroll.engine.prefix import BLOCK_TOKENS
from evals.turns.prefix import Account, Shared, common
from evals.turns.turn import Turn, cached_share, prefilled

few = st.lists(st.integers(0, 2), max_size=40)


@given(few, few)
def test_common_is_the_longest_common_prefix(first: list[int], second: list[int]) -> None:
    a, b = array("I", first), array("I", second)
    n = common(a, b)
    assert n == common(b, a)
    assert first[:n] == second[:n]
    assert n == min(len(a), len(b)) or first[n] != second[n]


@given(few)
def test_a_prompt_shares_all_of_itself(ids: list[int]) -> None:
    assert common(array("I", ids), array("I", ids)) == len(ids)


def test_a_fork_is_no_prompt_before_the_next_turn() -> None:
    account = Account()
    trunk = array("I", range(100))
    assert account.enter(trunk, fork=False) == Shared(0, 0)
    fork = array("I", [*range(40), *range(500, 560)])
    assert account.enter(fork, fork=True) == Shared(40, 40 // BLOCK_TOKENS * BLOCK_TOKENS)
    longer = array("I", range(120))
    assert account.enter(longer, fork=False) == Shared(100, 96)


def test_the_engine_has_what_a_fork_computed() -> None:
    account = Account()
    account.enter(array("I", range(64)), fork=False)
    other = array("I", range(1000, 1064))
    account.enter(other, fork=True)
    again = account.enter(array("I", [*other, 1]), fork=False)
    assert again == Shared(0, 64)


def test_shares() -> None:
    turns = [
        Turn("c", 10, 1, whole=5, tokens=100, shared=0, best=16),
        Turn("c", 10, 2, whole=20, tokens=300, shared=200, best=288),
        Turn("c", 10, 3, whole=20, action="refused"),
    ]
    assert cached_share(turns) == pytest.approx(0.5)
    assert cached_share(turns, best=True) == pytest.approx(304 / 400)
    assert prefilled(turns) == pytest.approx(100)
    assert [turn.over for turn in turns] == [False, True, True]
    assert [turn.refused for turn in turns] == [False, False, True]
