"""Patches: what the question of the moment needs, beside what was sent.

A patch is anchored at the message that asked. The next request carries it at the same place, so a drift
costs the tokens that it adds, where a rebuild costs a cold prefix from the block on.
"""

from services.assembler.case import Case, excerpt_of, recall_query
from services.assembler.drift import Verdict
from services.assembler.recall import Recall
from shared.contracts.rpc import Assembled
from shared.conversation.history import RoleCode
from shared.errors import DependencyUnavailable
from shared.prompt.place import Placement, excerpt_tokens
from shared.prompt.plan import FRAME_TOKENS, Patch, Plan

SMALLEST_PATCH = 256
"""Upper-bound tokens: with less room the window is due for an eviction anyway."""


async def patch(
    case: Case, recall: Recall, plan: Plan, grown: Placement, verdict: Verdict
) -> Assembled | None:
    """The reused layout with one more patch; None where there is no room for one."""
    last = len(case.history) - 1
    room = case.budget.usable - grown.tokens - excerpt_tokens(plan.layout, case.request.ratio)
    budget = int(min(case.budget.patch, room) / case.request.ratio) - FRAME_TOKENS
    if budget < SMALLEST_PATCH or case.history.roles[last] == RoleCode.ASSISTANT:
        return None
    query = recall_query(case, plan.layout, budget=budget, with_block=True, verdict=verdict)
    try:
        found = await recall.retrieve(query)
    except DependencyUnavailable as down:
        return Assembled(plan=plan.model_copy(update={"degraded": (*plan.degraded, down.part)}))
    if found.missing:
        return Assembled(missing=found.missing)
    added = Patch(last, tuple(sorted(map(excerpt_of, found.chosen))))
    layout = plan.layout.model_copy(update={"patches": (*plan.layout.patches, added)})
    return Assembled(
        plan=plan.model_copy(
            update={
                "action": "patch",
                "reasons": ("what was sent does not answer",),
                "layout": layout,
                "candidates": (*found.chosen, *found.dropped),
                "profile": found.profile,
                "found": found.found,
            }
        )
    )
