import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shared.conversation.history import History, RoleCode
from shared.prompt.window import recent_window, step_starts, window_cost

USER, ASSISTANT, TOOL = RoleCode.USER, RoleCode.ASSISTANT, RoleCode.TOOL


def history(*messages: tuple[int, int]) -> History:
    """From (role, tokens)."""
    turns, steps = [], []
    turn, step = 0, 0
    for role, _ in messages:
        if role == USER:
            turn, step = turn + 1, 0
        elif role == ASSISTANT:
            step += 1
        turns.append(turn)
        steps.append(step)
    n = len(messages)
    return History(
        addresses=bytes(16 * n),
        roles=np.array([r for r, _ in messages], dtype=np.uint8),
        turns=np.array(turns, dtype=np.uint32),
        steps=np.array(steps, dtype=np.uint32),
        units=np.ones(n, dtype=np.uint16),
        tokens=np.array([t for _, t in messages], dtype=np.uint32),
        least=np.zeros(n, dtype=np.uint32),
    )


def recent(h: History, budget: int, cap: int = 50) -> tuple[int, tuple[int, ...]]:
    window = recent_window(h, h.tokens.astype(np.int64), budget, cap)
    return window.start, window.pinned


CHAT = [(USER, 10), (ASSISTANT, 10)] * 5
RUN = [(USER, 10), *[(ASSISTANT, 20), (TOOL, 30)] * 4]


def test_whole_turns_where_they_fit() -> None:
    assert recent(history(*CHAT), 45) == (6, ())


def test_everything_where_everything_fits() -> None:
    assert recent(history(*CHAT), 100) == (0, ())


def test_a_long_turn_is_entered_at_a_step_and_its_task_is_pinned() -> None:
    assert recent(history(*RUN), 120) == (5, (0,))


def test_never_less_than_the_last_step_with_its_call() -> None:
    assert recent(history(*RUN), 5) == (7, (0,))


def test_a_pinned_task_counts_at_most_its_cap() -> None:
    run = [(USER, 1000), *[(ASSISTANT, 20), (TOOL, 30)] * 4]
    assert recent(history(*run), 120, cap=20) == (5, (0,))


def test_a_turn_before_a_short_one_is_entered_rather_than_wasted() -> None:
    assert recent(history(*RUN, (USER, 10), (ASSISTANT, 10)), 100) == (7, (0,))


roles = st.lists(st.sampled_from([USER, ASSISTANT]), min_size=1, max_size=20)


@given(roles, st.data(), st.integers(0, 400))
def test_a_window_never_starts_with_a_result(found: list[int], data: st.DataObject, budget: int) -> None:
    messages: list[tuple[int, int]] = []
    for role in found:
        messages.append((role, data.draw(st.integers(1, 100))))
        if role == ASSISTANT:
            messages += [(TOOL, data.draw(st.integers(1, 100)))] * data.draw(st.integers(0, 2))
    h = history(*messages)
    tokens = h.tokens.astype(np.int64)
    window = recent_window(h, tokens, budget, 50)
    assert h.roles[window.start] != TOOL
    assert window.start <= step_starts(h)[-1]
    if window.start != step_starts(h)[-1]:
        assert window_cost(h, tokens, window, 50) <= budget
