"""What is compared: the product with different settings, and windows without any recall."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backscroll.engine.template import HEAD_ROLES
from evals.capture import model_for, rendered

HALF = 0.5


@dataclass(frozen=True)
class System:
    settings: Mapping[str, Any] = field(default_factory=dict)
    fresh: bool = False
    """Each request under a model name of its own, so that it inherits nothing: recall and a window anew."""
    local: bool = False
    """The window alone, cut here; the product is not asked."""

    def model(self, window: int, number: int) -> str:
        """Of the request of this number in its conversation."""
        return f"{model_for(window)}-{number}" if self.fresh else model_for(window)


SYSTEMS: dict[str, System] = {
    "backscroll": System(),
    "patch": System({"drift_mode": "patch"}),
    "rebuild": System({"drift_mode": "rebuild"}),
    "seed": System({"drift_mode": "rebuild", "profile": "seed", "rerank_fallback": "zero"}),
    "hysteresis": System({"block_drift_rebuild": False}),
    "reinject": System(fresh=True),
    "window": System(local=True),
}


class WindowOnly:
    """The newest messages. Full, it is cut to half of the window and grows again.

    Inside a long run of an agent the task stays before it: without a user's message there is no prompt.
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._start = 0

    def prompt(self, messages: Sequence[dict[str, Any]], tools: Sequence[Any]) -> list[dict[str, Any]]:
        head = [m for m in messages if m["role"] in HEAD_ROLES]
        rest = [m for m in messages if m["role"] not in HEAD_ROLES]
        costs = [len(rendered([m])) - len(rendered([])) for m in rest]
        fixed = len(rendered(head, tools))
        task = _task(rest, self._start)
        if fixed + sum(costs[n] for n in (*task, *range(self._start, len(rest)))) >= self._window:
            self._start = _start(rest, costs, int(self._window * HALF) - fixed)
            task = _task(rest, self._start)
        return [*head, *(rest[n] for n in task), *rest[self._start :]]


def _task(messages: Sequence[Mapping[str, Any]], start: int) -> list[int]:
    """The user's message before the window, where none is in it."""
    if any(m["role"] == "user" for m in messages[start:]):
        return []
    return [n for n in range(start) if messages[n]["role"] == "user"][-1:]


def _start(messages: Sequence[Mapping[str, Any]], costs: Sequence[int], room: int) -> int:
    """The earliest start that fits, at no tool's result; the last message is there whatever it costs."""
    start = len(messages) - 1
    left = room - costs[start]
    while start > 0 and costs[start - 1] <= left:
        start -= 1
        left -= costs[start]
    while start < len(messages) - 1 and messages[start]["role"] == "tool":
        start += 1
    while messages[start]["role"] == "tool":
        start -= 1
    return start
