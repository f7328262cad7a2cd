"""The prompt of a baseline: what it chose, quoted in time order, then the newest messages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from backscroll.engine.template import HEAD_ROLES
from backscroll.engine.tokens import shared_encoder
from evals.baselines.units import Unit
from evals.capture import rendered
from evals.judge import last_step
from shared.prompt.render import TASK_LEFT_OUT

NEWEST_SHARE = 0.25
OPENING = "<excerpts>\n[Earlier in this conversation]\n"
CLOSING = "</excerpts>\n\n"
FRAME_TOKENS = 40
"""Of frame and template around a message that quotes."""


def baseline_prompt(
    messages: Sequence[dict[str, Any]],
    units: Sequence[Unit],
    order: Iterable[int],
    budget: int,
    share: float = NEWEST_SHARE,
) -> list[dict[str, Any]]:
    """Messages of at most `budget` tokens, the head not counted.

    `units`: of the history in front of the message that asks, positions being those of `messages`. The
    message that asks, or the calls with their results, are there whatever they cost.
    """
    head = [m for m in messages if m["role"] in HEAD_ROLES]
    step = last_step(messages)
    first = len(messages) - len(step)
    cost = _tokens(step) + len(rendered([]))
    newest = first
    if step[0]["role"] != "user":
        cost += FRAME_TOKENS
    while newest > len(head) and cost + _tokens(messages[newest - 1 : newest]) <= budget * share:
        newest -= 1
        cost += _tokens(messages[newest : newest + 1])
    while newest < first and messages[newest]["role"] == "tool":
        newest += 1  # a result without its call
    recent = list(messages[newest:])
    if not any(m["role"] == "user" for m in recent):
        # No template takes a prompt in which nobody asks.
        recent.insert(0, {"role": "user", "content": TASK_LEFT_OUT})
    chosen = _filled(units, order, newest, budget - len(rendered(recent)) - FRAME_TOKENS)
    if not chosen:
        return [*head, *recent]
    quoted = "".join(_quote(unit) for unit in sorted(chosen, key=lambda pair: pair[0]))
    return [*head, {"role": "user", "content": f"{OPENING}{quoted}{CLOSING}"}, *recent]


def _filled(units: Sequence[Unit], order: Iterable[int], newest: int, room: int) -> list[tuple[int, Unit]]:
    """Units before the newest messages in their order, each that still fits."""
    chosen: list[tuple[int, Unit]] = []
    for number in order:
        if room <= 0:
            break
        unit = units[number]
        if unit.position >= newest:
            continue
        cost = _quoted_tokens(unit)
        if cost <= room:
            chosen.append((number, unit))
            room -= cost
    return chosen


def _quote(numbered: tuple[int, Unit]) -> str:
    return f"[{numbered[1].role}] {numbered[1].text}\n"


def _quoted_tokens(unit: Unit) -> int:
    return len(shared_encoder().encode(f"[{unit.role}] {unit.text}\n"))


def _tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    """Of messages alone, without what opens the answer."""
    return len(rendered(messages)) - len(rendered([]))
