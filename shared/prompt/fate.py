"""The state machine: what becomes of the prompt that was sent last (diagram in ARCHITECTURE.md).

One request after the other inherits a layout. Whatever happens to it, the next prompt begins with as much
of the last one as the rules allow: all of it (`reuse`, `patch`), or the head, and then what does not move.

    cold      no tip                                            a window at low water, a new block
    evict     the tip's layout and the new messages do not fit  the window jumps to low water, a new block
    expire    the block is too old                              the same
    rebuild   the tip was made while a part was down            the window stays, a new block
    reuse     otherwise                                         byte for byte, longer at its end
    patch     reused, but a candidate answers                   the same, and excerpts beside the question
    rebuild   reused, but nothing that was sent answers         the window jumps, a new block
    cut       no assembler answers, it does not fit             the window jumps; what fits of the block
"""

from dataclasses import dataclass

from shared.conversation.history import History
from shared.prompt.budget import Budget
from shared.prompt.place import Placement, evict, excerpt_tokens, has_outside, inherit
from shared.prompt.plan import Action, Layout
from shared.prompt.state import Tip

STILL_FITS = "everything that was sent still fits"


@dataclass(frozen=True)
class Fate:
    action: Action
    placement: Placement
    reason: str


def fate(
    history: History,
    tip: Tip | None,
    budget: Budget,
    ratio: float,
    ttl_s: float,
    at: float,
    carried: int | None = None,
) -> Fate:
    """Before anything is recalled. `at` and the tip's `built_at` are seconds of one clock."""
    if tip is None:
        return Fate("cold", evict(history, None, budget, ratio), "no earlier state")
    grown = inherit(history, tip, budget, ratio, carried)
    if grown is None:
        return Fate("evict", evict(history, tip, budget, ratio), "the prompt is full")
    if has_outside(tip.layout):
        if at - tip.built_at >= ttl_s:
            return Fate("expire", evict(history, tip, budget, ratio), "the block is too old")
        if tip.degraded:
            return Fate("rebuild", grown, f"built without: {', '.join(tip.degraded)}")
    return Fate("reuse", grown, STILL_FITS)


def to_be_checked(history: History, tip: Tip) -> bool:
    """Whether a reused prompt may lack what the question needs: not where the request is the tip's own, nor
    where nothing is outside."""
    return tip.length != len(history) and has_outside(tip.layout)


def answer_to_drift(mode: str, *, drifted: bool, wanted: bool, room: bool) -> Action:
    """Of a reused prompt. `drifted`: nothing that stands in it answers, and a candidate does. `wanted`: a
    candidate answers, whatever stands in it, or nobody can say. A patch costs the tokens that it adds, a
    rebuild the whole prompt. A patch that turns out to bring nothing had no room."""
    if mode == "patch" and wanted and room:
        return "patch"
    return "rebuild" if drifted else "reuse"


def fate_alone(
    history: History, tip: Tip | None, budget: Budget, ratio: float, carried: int | None = None
) -> tuple[Fate, Layout]:
    """Where no assembler answers: the tip's layout while it fits, else a jump with what of the block still
    lies before the window."""
    grown = inherit(history, tip, budget, ratio, carried) if tip else None
    if tip and grown:
        return Fate("reuse", grown, STILL_FITS), tip.layout
    placement = evict(history, tip, budget, ratio)
    block = tuple(e for e in tip.layout.block if e.position < placement.window.start) if tip else ()
    layout = placement.layout(block=block)
    if placement.tokens + excerpt_tokens(layout, ratio) > budget.usable:
        layout = placement.layout()
    return Fate("cut", placement, "no assembler answered"), layout
