"""What stands verbatim in a prompt; everything else of the request is a candidate of recall."""

import numpy as np

from shared.conversation.history import History
from shared.prompt.plan import Excerpt, Layout

WHOLE = 2**31 - 1
"""An end beyond every text."""


def inside_bits(history: History, layout: Layout) -> bytes:
    """One bit a position: the whole message stands in the prompt."""
    bits = np.zeros(len(history), dtype=bool)
    bits[layout.window_start :] = True
    bits[list(layout.pinned)] = True
    bits[[c.position for c in layout.cuts if c.position < len(history)]] = False
    return np.packbits(bits).tobytes()


def inside_ranges(history: History, layout: Layout, *, with_block: bool) -> tuple[Excerpt, ...]:
    """The ranges that stand in the prompt out of messages that do not stand there whole."""
    ranges: list[Excerpt] = []
    starts: dict[int, dict[int, int]] = {}
    for cut in layout.cuts:
        starts.setdefault(cut.position, {})[cut.unit] = cut.end
    for position, ends in starts.items():
        if position < len(history):
            ranges += [
                Excerpt(position, unit, ends.get(unit, 0), WHOLE, "", 0)
                for unit in range(int(history.units[position]))
            ]
    if with_block:
        ranges += layout.block
        ranges += [e for patch in layout.patches for e in patch.excerpts]
    return tuple(ranges)


def has_outside(history: History, layout: Layout) -> bool:
    """Whether there is anything to recall at all."""
    before = layout.window_start - sum(p < layout.window_start for p in layout.pinned)
    return before > 0 or bool(layout.cuts)
