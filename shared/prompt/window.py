"""The recent window: where it may start, and where it starts after an eviction.

A window starts at a turn, or inside a long turn at a step (an assistant message with its tool calls
and all their results); then the turn's user message, the task, is pinned before it. So a model never
reads a tool result without the call that made it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shared.conversation.history import History, RoleCode

Positions = npt.NDArray[np.int64]
Tokens = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Window:
    """`start` is a position; `pinned` holds the task where the window starts inside its turn."""

    start: int
    pinned: tuple[int, ...]


def step_starts(history: History) -> Positions:
    """Every position where a window may start: the first of each (turn, step), never a tool result."""
    n = len(history)
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    new = np.ones(n, dtype=bool)
    new[1:] = (np.diff(history.turns.astype(np.int64)) != 0) | (np.diff(history.steps.astype(np.int64)) != 0)
    new &= history.roles != RoleCode.TOOL
    new[0] = True
    return np.flatnonzero(new)


def last_step(history: History) -> int:
    """Where the step that asks begins."""
    return int(step_starts(history)[-1])


def task_of(history: History, position: int) -> int | None:
    """The user message of the turn that a position belongs to, where it stands before it."""
    first = int(np.searchsorted(history.turns, history.turns[position]))
    if first < position and history.roles[first] == RoleCode.USER:
        return first
    return None


def window_at(history: History, start: int) -> Window:
    task = task_of(history, start) if start < len(history) else None
    return Window(start, () if task is None else (task,))


def task_cost(history: History, tokens: Tokens, position: int, task_cap: int) -> int:
    """A pinned task is cut to the cap, as far as it is text."""
    return min(int(tokens[position]), max(task_cap, int(history.least[position])))


def window_cost(history: History, tokens: Tokens, window: Window, task_cap: int) -> int:
    pinned = sum(task_cost(history, tokens, p, task_cap) for p in window.pinned)
    return pinned + int(tokens[window.start :].sum())


def recent_window(history: History, tokens: Tokens, budget: int, task_cap: int) -> Window:
    """The longest window of at most `budget` tokens; at least the last step, however long it is.

    Whole turns where they fit. A turn that does not fit is entered at a step when whole turns alone
    would leave more than half of the budget unused.
    """
    starts = step_starts(history)
    last = window_at(history, int(starts[-1]))
    turn_starts = starts[history.steps[starts] == 0] if len(starts) else starts
    whole = _longest(history, tokens, turn_starts, budget, task_cap)
    if whole is not None and window_cost(history, tokens, whole, task_cap) * 2 >= budget:
        return whole
    entered = _longest(history, tokens, starts, budget, task_cap)
    if entered is None:
        return last
    if whole is not None and whole.start <= entered.start:
        return whole
    return entered


def _longest(
    history: History, tokens: Tokens, starts: Positions, budget: int, task_cap: int
) -> Window | None:
    """The earliest of the starts whose window fits. Costs grow with length but for the task's."""
    suffix = np.cumsum(tokens[::-1])[::-1]
    fitting = starts[suffix[starts] <= budget]
    for start in fitting:
        window = window_at(history, int(start))
        if window_cost(history, tokens, window, task_cap) <= budget:
            return window
    return None
