"""What stays in the prompt, decided from token counts alone.

The one decision that the assembler and, where there is no assembler, the gateway both make: does the
inherited layout still fit (reuse), or does the window jump forward (eviction)?
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shared.conversation.history import History, RoleCode
from shared.prompt.budget import Budget
from shared.prompt.plan import FRAME_TOKENS, PATCH_FRAME_TOKENS, Allowance, Cut, Excerpt, Layout, Patch
from shared.prompt.state import Tip
from shared.prompt.window import Tokens, Window, recent_window, step_starts, task_cost, window_cost

CUT_MARGIN_TOKENS = 24
"""What the line that stands in place of a cut text costs at most."""
SMALLEST_STEP_TOKENS = 64
"""What each message of the last step keeps of its text at the very least."""


@dataclass(frozen=True)
class Placement:
    window: Window
    allowances: tuple[Allowance, ...]
    cuts: tuple[Cut, ...]
    tokens: int
    """Of the window and the pinned task, after cuts."""

    def layout(self, block: tuple[Excerpt, ...] = (), patches: tuple[Patch, ...] = ()) -> Layout:
        return Layout(
            window_start=self.window.start,
            pinned=self.window.pinned,
            cuts=self.cuts,
            block=block,
            patches=patches,
        )


def tokens_after_cuts(history: History, cuts: tuple[Cut, ...], ratio: float) -> Tokens:
    """Tokens of each message as it stands in the prompt, on the scale of the history."""
    tokens = history.tokens.astype(np.int64)
    for cut in cuts:
        if cut.position < len(tokens):
            tokens[cut.position] = min(int(tokens[cut.position]), int(np.ceil(cut.tokens * ratio)))
    return tokens


def excerpt_tokens(layout: Layout, ratio: float) -> int:
    """What block and patches cost, engine tokens, as estimated."""
    total = FRAME_TOKENS + sum(e.tokens for e in layout.block) if layout.block else 0
    total += sum(PATCH_FRAME_TOKENS + sum(e.tokens for e in patch.excerpts) for patch in layout.patches)
    return int(np.ceil(total * ratio))


def inherit(
    history: History, tip: Tip, budget: Budget, ratio: float, carried: int | None = None
) -> Placement | None:
    """The tip's layout, grown by the new messages; None where it no longer fits.

    `carried`: tokens of the tip's prompt, where that was counted and is known to be the beginning of this
    one. Estimated anew, a prompt that was sent could be too long for the very same request.
    """
    tokens = tokens_after_cuts(history, tip.layout.cuts, ratio)
    window = Window(tip.layout.window_start, tip.layout.pinned)
    grown = int(tokens[window.start :].sum()) + sum(int(tokens[p]) for p in window.pinned)
    excerpts = excerpt_tokens(tip.layout, ratio)
    whole = grown + excerpts
    if carried is not None:
        whole = min(whole, carried - budget.head + int(tokens[tip.length :].sum()))
    if whole > budget.usable:
        return None
    return Placement(window, (), tip.layout.cuts, max(whole - excerpts, 0))


def evict(history: History, tip: Tip | None, budget: Budget, ratio: float) -> Placement:
    """The window after a jump: the recent turns at low water, at least the last step.

    The last step is cut only if it does not fit beside `memory_min`. A cut that the tip made stays
    where its message stays, so that what stands in the prompt keeps its bytes.
    """
    cuts = tip.layout.cuts if tip else ()
    tokens = tokens_after_cuts(history, cuts, ratio)
    window = recent_window(history, tokens, budget.recent, budget.task)
    # Images cannot be cut: a task that leaves no room for the work on it is not pinned.
    pinned = tuple(p for p in window.pinned if int(history.least[p]) <= budget.usable // 2)
    window = Window(window.start, pinned)
    costs = {p: task_cost(history, tokens, p, budget.task) for p in pinned}
    allowances = [Allowance(p, cost) for p, cost in costs.items() if int(tokens[p]) > cost]
    task = window_cost(history, tokens, window, budget.task) - int(tokens[window.start :].sum())
    room = budget.usable - budget.memory_min - task
    last = window.start
    if int(tokens[last:].sum()) > room and last == int(step_starts(history)[-1]):
        allowances += share_out(range(last, len(history)), tokens, history.least, room)
    allowed = {a.position: a.tokens for a in allowances}
    kept = tuple(c for c in cuts if c.position >= window.start or c.position in window.pinned)
    cost = sum(
        min(int(tokens[p]), allowed.get(p, int(tokens[p])))
        for p in (*window.pinned, *range(window.start, len(history)))
    )
    return Placement(window, tuple(allowances), tuple(c for c in kept if c.position not in allowed), cost)


def share_out(positions: range, tokens: Tokens, least: npt.NDArray[np.uint32], room: int) -> list[Allowance]:
    """One level for all that is above it, so that together they fit the room: the longest give way.

    What is no text gives nothing; the texts beside it give the more, but for a last rest of each.
    """
    sizes = tokens[positions.start : positions.stop]
    fixed = least[positions.start : positions.stop].astype(np.int64)
    floors = np.minimum(sizes, fixed + SMALLEST_STEP_TOKENS)
    low, high = 0, max(room, 0)
    while low < high:
        level = (low + high + 1) // 2
        if int(np.minimum(sizes, np.maximum(floors, level)).sum()) <= room:
            low = level
        else:
            high = level - 1
    allowed = np.maximum(floors, low - CUT_MARGIN_TOKENS)
    return [Allowance(positions[i], int(allowed[i])) for i in np.flatnonzero(sizes > allowed).tolist()]


def anchor_of(roles: npt.NDArray[np.uint8], layout: Layout) -> int | None:
    """Where the memory block stands: in front of the user message that the prompt begins with.

    None where it begins with another: then the block is a message of its own before it. A user message
    that comes later is no anchor: it may not be there yet when the block is built, and would move it.
    """
    first = layout.pinned[0] if layout.pinned else layout.window_start
    return first if first < len(roles) and roles[first] == RoleCode.USER else None


def has_outside(layout: Layout) -> bool:
    """Whether there is anything to recall at all."""
    before = layout.window_start - sum(p < layout.window_start for p in layout.pinned)
    return before > 0 or bool(layout.cuts)
