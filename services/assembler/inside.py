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
    cuts = {(cut.position, cut.unit): cut for cut in layout.cuts}
    for position in dict.fromkeys(cut.position for cut in layout.cuts if cut.position < len(history)):
        for unit in range(int(history.units[position])):
            cut = cuts.get((position, unit))
            if cut and cut.start:
                ranges.append(Excerpt(position, unit, 0, cut.start, "", 0))
            ranges.append(Excerpt(position, unit, cut.end if cut else 0, WHOLE, "", 0))
    if with_block:
        ranges += layout.quoted
    return tuple(ranges)
