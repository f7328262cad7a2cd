"""Convergence: it must fit (reference §5.8).

Estimates err, counting fails, images expand. So after a plan is rendered and still does not fit, the
layout gives way step by step until it does: first the block, then the longest messages, then the oldest.
System messages and the last user message are never dropped.
"""

from collections.abc import Callable, Iterator, Sequence

from shared.contracts.base import Kind
from shared.contracts.events import Unit
from shared.conversation.history import History
from shared.prompt.cut import cut_unit, standing
from shared.prompt.plan import Cut, Layout
from shared.prompt.toolresult import Left, ToolPolicies
from shared.prompt.window import step_starts, window_at
from shared.tokens.estimate import Coefficients, tail_within, upper_bound

BLOCK_ROUNDS = 4
BLOCK_KEEP = 0.7
MESSAGE_ROUNDS = 64
TAIL_KEEP = 0.6
TAIL_CHARS = 2048


def shrinkings(
    layout: Layout,
    history: History,
    units: Callable[[int], Sequence[Unit]],
    worth: Callable[[int, int, int], float],
    coefficients: Coefficients,
    least_tokens: int,
    policies: ToolPolicies,
) -> Iterator[tuple[str, Layout]]:
    """Ever smaller layouts, each with what was given up; ends when nothing more can be.

    A cut text keeps at least 2,048 characters of its tail, or `least_tokens` (upper bound) where that
    is less. `worth` ranks the excerpts of the block by (position, unit, start): the least worth goes first.
    """
    for _ in range(BLOCK_ROUNDS):
        if not layout.block:
            break
        ranked = sorted(layout.block, key=lambda e: -worth(e.position, e.unit, e.start))
        keep = ranked[: int(len(ranked) * BLOCK_KEEP)]
        layout = layout.model_copy(update={"block": tuple(sorted(keep))})
        yield f"-{len(ranked) - len(keep)} excerpts", layout
    if layout.block or layout.patches:
        layout = layout.model_copy(update={"block": (), "patches": ()})
        yield "block dropped", layout
    for _ in range(MESSAGE_ROUNDS):
        smaller = _cut_longest(layout, history, units, coefficients, least_tokens, policies) or _drop_oldest(
            layout, history
        )
        if smaller is None:
            return
        layout = smaller
        yield "message cut", layout


def _cut_longest(
    layout: Layout,
    history: History,
    units: Callable[[int], Sequence[Unit]],
    coefficients: Coefficients,
    least_tokens: int,
    policies: ToolPolicies,
) -> Layout | None:
    """The longest text of the window keeps at most 60% of what stands of it: its tail, from a line start on,
    or what its tool's policy names."""
    done = {(c.position, c.unit): c for c in layout.cuts}
    longest: tuple[int, int, Unit] | None = None
    for position in (*layout.pinned, *range(layout.window_start, len(history))):
        for unit in units(position):
            chars = _kept_chars(unit.text, done.get((position, unit.unit)))
            if unit.kind is Kind.TOOL_CALL or (longest and chars <= longest[0]):
                continue
            if chars > min(TAIL_CHARS, tail_within(unit.text, least_tokens, coefficients)):
                longest = (chars, position, unit)
    if longest is None:
        return None
    chars, position, unit = longest
    most = max(int(chars * TAIL_KEEP), min(TAIL_CHARS, tail_within(unit.text, least_tokens, coefficients)))
    left = cut_unit(unit, most, lambda text: len(text) <= most, policies)
    cut = done.get((position, unit.unit))
    if left is None or _kept_chars(unit.text, left) >= chars:
        return None
    before = next((c.tokens for c in layout.cuts if c.position == position), int(history.tokens[position]))
    was, now = (upper_bound(standing(unit.text, each), coefficients) for each in (cut, left))
    tokens = max(before - was + now, 0)
    others = tuple(
        c._replace(tokens=tokens) if c.position == position else c
        for c in layout.cuts
        if (c.position, c.unit) != (position, unit.unit)
    )
    new = Cut(position, unit.unit, left.start, left.end, tokens, left.selection)
    return layout.model_copy(update={"cuts": tuple(sorted((*others, new)))})


def _kept_chars(text: str, left: Left | Cut | None) -> int:
    """Of the text itself: the line that tells of an omission does not count, or it would be cut for ever."""
    if left is None:
        return len(text)
    return len(standing(text, left)) if left.selection else len(text) - (left.end - left.start)


def _drop_oldest(layout: Layout, history: History) -> Layout | None:
    """The window starts one step later; the last step stays."""
    later = [int(s) for s in step_starts(history) if s > layout.window_start]
    if not later:
        return None
    window = window_at(history, later[0])
    kept = tuple(c for c in layout.cuts if c.position >= window.start or c.position in window.pinned)
    return layout.model_copy(update={"window_start": window.start, "pinned": window.pinned, "cuts": kept})
