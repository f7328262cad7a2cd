"""The gateway's own plan, where there is no assembler: it cuts the window itself."""

from shared.conversation.history import History
from shared.prompt.budget import Budget
from shared.prompt.place import evict, excerpt_tokens, inherit
from shared.prompt.plan import Plan
from shared.prompt.state import Tip


def local_plan(history: History, tip: Tip | None, budget: Budget, ratio: float, at: float, why: str) -> Plan:
    """The inherited layout where it still fits; else a jump, with what of the block still has its place."""
    grown = inherit(history, tip, budget, ratio) if tip else None
    if tip and grown:
        return Plan(
            action="reuse",
            layout=tip.layout,
            built_at=tip.built_at,
            budget=budget.lines(),
            reasons=("everything that was sent still fits",),
            index=tip.index,
            indexed_to=tip.indexed_to,
            covered_to=tip.covered_to,
            degraded=(why,),
        )
    placement = evict(history, tip, budget, ratio)
    block = tuple(e for e in tip.layout.block if e.position < placement.window.start) if tip else ()
    layout = placement.layout(block=block)
    if placement.tokens + excerpt_tokens(layout, ratio) > budget.usable:
        layout = placement.layout()
    return Plan(
        action="cut",
        layout=layout,
        allowances=placement.allowances,
        built_at=at,
        budget=budget.lines(),
        reasons=("no assembler answered",),
        index=tip.index if tip else "",
        indexed_to=tip.indexed_to if tip else 0,
        covered_to=tip.covered_to if tip else 0,
        degraded=(why,),
    )
