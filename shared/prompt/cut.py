"""Cutting a message that does not fit: its tail stays, from a line start on (reference §5.2, §5.8).

Of a tool's result stays what its policy names, where there is one. What is cut stays retrievable: it
becomes a candidate of recall from the next request on. Arguments of tool calls must stay valid JSON, so
calls are never cut.
"""

from collections.abc import Callable, Sequence
from functools import partial

from shared.contracts.base import Kind
from shared.contracts.events import Unit
from shared.prompt.plan import Cut
from shared.prompt.toolresult import Left, ToolPolicies, left_out, policy_of, selected
from shared.text.cut import tail_from
from shared.tokens.estimate import Coefficients, tail_within, upper_bound


def omission(characters: int) -> str:
    """The line that stands where a text was cut."""
    return f"[... {characters} characters omitted ...]\n"


def cut_to(
    position: int,
    units: Sequence[Unit],
    tokens: int,
    allowed: int,
    coefficients: Coefficients,
    policies: ToolPolicies,
) -> tuple[Cut, ...]:
    """Ranges to leave out so that the message costs at most `allowed`; empty where it fits as it is.

    `tokens` and `allowed` are upper-bound tokens of the whole message. Later texts are kept before
    earlier ones.
    """
    if tokens <= allowed:
        return ()
    texts = [u for u in units if u.kind is not Kind.TOOL_CALL]
    costs = {u.unit: upper_bound(u.text, coefficients) for u in texts}
    room = allowed - (tokens - sum(costs.values()))
    cuts: list[tuple[int, Left]] = []
    total = tokens
    for unit in reversed(texts):
        cost = costs[unit.unit]
        if cost <= room:
            room -= cost
            continue
        marker = upper_bound(omission(len(unit.text)), coefficients)
        keep = tail_within(unit.text, max(room - marker, 0), coefficients)
        left = cut_unit(unit, keep, partial(_costs_at_most, room, coefficients), policies)
        if left is None:
            continue
        after = upper_bound(standing(unit.text, left), coefficients)
        total += after - cost
        room = max(room - after, 0)
        cuts.append((unit.unit, left))
    return tuple(
        Cut(position, unit, left.start, left.end, total, left.selection) for unit, left in sorted(cuts)
    )


def _costs_at_most(tokens: int, coefficients: Coefficients, text: str) -> bool:
    return upper_bound(text, coefficients) <= tokens


def cut_unit(unit: Unit, tail_chars: int, fits: Callable[[str], bool], policies: ToolPolicies) -> Left | None:
    """By the tool's policy where that fits, else to a tail; None where that makes nothing shorter."""
    policy = policy_of(policies, unit.tool) if unit.kind is Kind.TOOL_RESULT else None
    if policy is not None:
        left = left_out(unit.text, policy, lambda left: standing(unit.text, left), fits)
        if left is not None:
            return left
    left = Left(0, tail_from(unit.text, tail_chars) if tail_chars else len(unit.text), None)
    return left if len(standing(unit.text, left)) < len(unit.text) else None


def standing(text: str, left: Left | Cut | None) -> str:
    """What of a text stands in the prompt."""
    if left is None:
        return text
    instead = selected(text[left.start : left.end], left.selection) if left.selection else None
    if instead is None:
        instead = omission(left.end - left.start)
    return text[: left.start] + instead + text[left.end :]


def by_unit(cuts: Sequence[Cut]) -> dict[int, list[Cut]]:
    """The cuts of each unit. A message can have tens of thousands of either."""
    found: dict[int, list[Cut]] = {}
    for cut in cuts:
        found.setdefault(cut.unit, []).append(cut)
    return found


def apply_cuts(text: str, cuts: Sequence[Cut]) -> str:
    """The text as it stands after the cuts of its unit, from the last to the first."""
    for cut in sorted(cuts, key=lambda c: -c.start):
        text = standing(text, cut)
    return text
