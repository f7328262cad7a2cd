"""The gateway's own plan, where there is no assembler: it cuts the window itself."""

from shared.conversation.history import History
from shared.prompt.budget import Budget
from shared.prompt.fate import fate_alone
from shared.prompt.plan import Plan
from shared.prompt.state import Tip


def local_plan(
    history: History,
    tip: Tip | None,
    budget: Budget,
    ratio: float,
    at: float,
    why: str,
    carried: int | None,
) -> Plan:
    fate, layout = fate_alone(history, tip, budget, ratio, carried)
    return Plan(
        action=fate.action,
        layout=layout,
        allowances=fate.placement.allowances,
        built_at=tip.built_at if tip and fate.action == "reuse" else at,
        budget=budget.lines(),
        reasons=(fate.reason,),
        index=tip.index if tip else "",
        indexed_to=tip.indexed_to if tip else 0,
        covered_to=tip.covered_to if tip else 0,
        degraded=(why,),
    )
