import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.prompt.budget import limits_of, output_reserve, plan_budget
from shared.settings import Settings

LIMITS = limits_of(Settings())


def test_at_the_reference_window_the_amounts_are_the_references() -> None:
    budget = plan_budget(262_144, None, 0, LIMITS)
    assert budget.slack == 8
    assert budget.reserve == 8192
    assert budget.usable == 262_144 - 8 - 8192
    assert budget.recent == (262_144 - 8 - 8192) // 4
    assert budget.query <= 2048
    assert budget.memory_min <= 4096


@pytest.mark.parametrize(
    ("window", "asked", "reserve"),
    [(8192, None, 256), (8192, 100_000, 1024), (262_144, 100_000, 32_768), (8192, 10, 10)],
)
def test_the_output_reserve_is_a_share_at_most(window: int, asked: int | None, reserve: int) -> None:
    assert output_reserve(window, asked, LIMITS) == reserve


@given(st.integers(2048, 2_000_000), st.none() | st.integers(1, 10**6), st.integers(0, 3_000_000))
def test_the_parts_leave_room_to_grow(window: int, asked: int | None, head: int) -> None:
    budget = plan_budget(window, asked, head, LIMITS)
    assert budget.usable + budget.head + budget.reserve + budget.slack == window
    if budget.usable > 0:
        assert budget.recent + budget.memory + budget.patch <= budget.usable * 0.625


def test_where_tools_are_at_work_more_of_what_was_last_stays() -> None:
    chat = plan_budget(32_768, None, 0, LIMITS)
    work = plan_budget(32_768, None, 0, LIMITS, works_with_tools=True)
    assert (work.recent, work.memory) == (chat.usable // 2, chat.usable // 8)
    assert work.recent + work.memory + work.patch <= work.usable * 0.7


def test_the_patch_share_falls_with_the_window() -> None:
    shares = [plan_budget(w, 1, 0, LIMITS).patch / w for w in (2048, 8200, 16_384, 32_768, 131_072)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == pytest.approx(1 / 8, rel=0.01)
    assert shares[1] == pytest.approx(1 / 16, rel=0.01)
    assert shares[-1] == pytest.approx(1 / 32, rel=0.01)
