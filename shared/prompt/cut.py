"""Cutting a message that does not fit: its tail stays, from a line start on (reference §5.2, §5.8).

What is cut stays retrievable: it becomes a candidate of recall from the next request on. Arguments of
tool calls must stay valid JSON, so calls are never cut.
"""

from collections.abc import Sequence

from shared.contracts.base import Kind
from shared.contracts.events import Unit
from shared.prompt.plan import Cut
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
    least_chars: int = 0,
) -> tuple[Cut, ...]:
    """Ranges to leave out so that the message costs at most `allowed`; empty where it fits as it is.

    `tokens` and `allowed` are upper-bound tokens of the whole message. Later texts are kept before
    earlier ones; `least_chars` of the last text stay even where that is more than allowed.
    """
    if tokens <= allowed:
        return ()
    texts = [u for u in units if u.kind is not Kind.TOOL_CALL]
    costs = {u.unit: upper_bound(u.text, coefficients) for u in texts}
    room = allowed - (tokens - sum(costs.values()))
    ranges: list[tuple[int, int, int]] = []
    left = tokens
    for number, unit in enumerate(reversed(texts)):
        cost = costs[unit.unit]
        if cost <= room:
            room -= cost
            continue
        marker = upper_bound(omission(len(unit.text)), coefficients)
        keep = tail_within(unit.text, max(room - marker, 0), coefficients)
        keep = max(keep, least_chars if number == 0 else 0)
        start = tail_from(unit.text, keep) if keep else len(unit.text)
        if start == 0:
            continue
        after = upper_bound(unit.text[start:], coefficients) + marker
        left += after - cost
        room = max(room - after, 0)
        ranges.append((unit.unit, 0, start))
    return tuple(Cut(position, unit, start, end, left) for unit, start, end in sorted(ranges))


def apply_cuts(text: str, ranges: Sequence[tuple[int, int]]) -> str:
    """The text with each range replaced by its omission line."""
    kept, last = [], 0
    for start, end in sorted(ranges):
        kept += [text[last:start], omission(end - start)]
        last = end
    return "".join([*kept, text[last:]])
