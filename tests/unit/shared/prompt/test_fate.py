"""The state machine, table and properties."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.conversation.history import SIZE, History, RoleCode
from shared.prompt.budget import limits_of, plan_budget
from shared.prompt.fate import answer_to_drift, fate, fate_alone, to_be_checked
from shared.prompt.place import evict, excerpt_tokens, inherit
from shared.prompt.plan import Excerpt, Layout, Patch
from shared.prompt.state import Tip
from shared.settings import Settings

BUDGET = plan_budget(4096, 128, 200, limits_of(Settings()))
TTL_S = 100.0


def chat(tokens: list[int]) -> History:
    """Of user and assistant in turns."""
    n = len(tokens)
    roles = np.array([RoleCode.USER, RoleCode.ASSISTANT] * n, dtype=np.uint8)[:n]
    turns = np.cumsum(roles == RoleCode.USER).astype(np.uint32)
    steps = (roles == RoleCode.ASSISTANT).astype(np.uint32)
    costs = np.array(tokens, dtype=np.uint32)
    addresses = b"".join(i.to_bytes(SIZE, "big") for i in range(n))
    return History(addresses, roles, turns, steps, np.ones(n, np.uint16), costs, np.full(n, 8, np.uint32))


def tip(length: int, start: int, **changed: Any) -> Tip:
    layout = changed.pop("layout", Layout(window_start=start))
    told: dict[str, Any] = {"tokens": 1, "exact": True, "ratio": 1.0, "built_at": 0.0}
    return Tip(length=length, layout=layout, **(told | changed))


LONG = chat([100] * 41)


@pytest.mark.parametrize(
    ("found", "at", "action"),
    [
        (None, 0.0, "cold"),
        (tip(39, 10), 1.0, "reuse"),
        (tip(39, 0), 1.0, "evict"),
        (tip(39, 10), TTL_S, "expire"),
        (tip(39, 10, degraded=("bus_unavailable",)), 1.0, "rebuild"),
        (tip(39, 0, degraded=("bus_unavailable",)), TTL_S, "evict"),
        (tip(39, 10, degraded=("bus_unavailable",)), TTL_S, "expire"),
    ],
)
def test_what_becomes_of_the_last_prompt(found: Tip | None, at: float, action: str) -> None:
    assert fate(LONG, found, BUDGET, 1.0, TTL_S, at).action == action


def test_where_nothing_is_outside_nothing_is_too_old() -> None:
    short = chat([100] * 9)
    assert fate(short, tip(7, 0, degraded=("bus_unavailable",)), BUDGET, 1.0, TTL_S, TTL_S).action == "reuse"
    assert not to_be_checked(short, tip(7, 0))


def test_a_retry_is_not_checked() -> None:
    assert to_be_checked(LONG, tip(39, 10))
    assert not to_be_checked(LONG, tip(len(LONG), 10))


@pytest.mark.parametrize(
    ("mode", "drifted", "wanted", "room", "action"),
    [
        ("patch", True, True, True, "patch"),
        ("patch", False, True, True, "patch"),
        ("patch", False, True, False, "reuse"),
        ("patch", True, True, False, "rebuild"),
        ("patch", False, False, True, "reuse"),
        ("rebuild", True, True, True, "rebuild"),
        ("rebuild", False, True, True, "reuse"),
        ("rebuild", False, False, True, "reuse"),
    ],
)
def test_what_a_drift_costs(mode: str, drifted: bool, wanted: bool, room: bool, action: str) -> None:
    assert answer_to_drift(mode, drifted=drifted, wanted=wanted, room=room) == action


@given(
    st.lists(st.integers(10, 900), min_size=3, max_size=60),
    st.integers(0, 30),
    st.integers(0, 1500),
    st.integers(0, 400),
)
def test_the_last_prompt_stays_as_long_as_it_fits(
    tokens: list[int], turn: int, block: int, patch: int
) -> None:
    """Never a jump for less, never a reuse of more than fits; a jump leaves room to grow, or as little as
    there can be."""
    history = chat(tokens)
    length = max(len(history) - 2, 1)
    start = min(2 * turn, length - 1) // 2 * 2
    quoted = (Excerpt(0, 0, 0, 9, "", block),) if block and start else ()
    added = (Patch(length - 1, (Excerpt(0, 0, 0, 9, "", patch),)),) if patch and start else ()
    old = tip(length, start, layout=Layout(window_start=start, block=quoted, patches=added))
    cost = int(history.tokens[start:].sum()) + excerpt_tokens(old.layout, 1.0)
    found = fate(history, old, BUDGET, 1.0, TTL_S, 1.0)
    alone, layout = fate_alone(history, old, BUDGET, 1.0)
    if cost <= BUDGET.usable:
        assert (found.action, alone.action, layout) == ("reuse", "reuse", old.layout)
        assert found.placement == inherit(history, old, BUDGET, 1.0)
    else:
        assert (found.action, alone.action) == ("evict", "cut")
        jumped = evict(history, old, BUDGET, 1.0)
        assert found.placement == alone.placement == jumped
        assert jumped.tokens <= max(BUDGET.recent, BUDGET.usable - BUDGET.memory_min)
        assert jumped.tokens + excerpt_tokens(layout, 1.0) <= BUDGET.usable
        assert layout.patches == ()


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, BUDGET.usable))
def test_what_was_counted_is_not_estimated_again(start: int, new: int, window: int) -> None:
    """A ratio that is on the high side makes no prompt too long that was counted and sent."""
    old = tip(len(LONG) - min(new, len(LONG) - 1), start)
    carried = BUDGET.head + window
    added = int(LONG.tokens[old.length :].sum())
    grown = inherit(LONG, old, BUDGET, 1.0, carried)
    estimate = int(LONG.tokens[start:].sum())
    assert (grown is not None) == (min(estimate, window + added) <= BUDGET.usable)
    if grown:
        assert grown.tokens == min(estimate, window + added)
    for action in (
        fate(LONG, old, BUDGET, 1.0, TTL_S, 1.0, carried).action,
        fate_alone(LONG, old, BUDGET, 1.0, carried)[0].action,
    ):
        assert (action == "reuse") == (grown is not None)
