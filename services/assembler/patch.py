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
from shared.prompt.plan import PATCH_FRAME_TOKENS, Layout, Patch, Plan

SMALLEST_PATCH = 128
"""Upper-bound tokens: one short message."""
BEST = 10
"""What a patch brings is among so many best of all. LoCoMo at 8K, share cached and ER: .928/.820 with 8,
.923/.832 with 10, .917/.843 with 12 (ADR 0015)."""
BEST_WITH_TOOLS = 5
"""Agent runs at 32K: .934/.781; with 12 .923/.772."""
BEST_UNJUDGED = 3
"""Where no reranker says whether a candidate answers."""


def room_for_patch(case: Case, layout: Layout, grown: Placement) -> int:
    """Upper-bound tokens; 0 where the window is due for an eviction anyway, or nobody asks."""
    room = case.budget.usable - grown.tokens - excerpt_tokens(layout, case.request.ratio)
    tokens = int(min(case.budget.patch, room) / case.request.ratio) - PATCH_FRAME_TOKENS
    asks = case.history.roles[-1] != RoleCode.ASSISTANT
    return tokens if asks and tokens >= SMALLEST_PATCH else 0


async def patch(
    case: Case, recall: Recall, plan: Plan, room: int, verdict: Verdict | None
) -> Assembled | None:
    """The reused layout with one more patch; None where it would bring nothing. It brings what the prompt
    lacks of the best of all, so it is as long as the question needs."""
    query = recall_query(
        case, plan.layout, budget=room, with_block=True, among_best=_among(case, verdict), verdict=verdict
    )
    try:
        found = await recall.retrieve(query)
    except DependencyUnavailable as down:
        return Assembled(plan=plan.model_copy(update={"degraded": (*plan.degraded, down.part)}))
    if found.missing:
        return Assembled(missing=found.missing)
    if not found.chosen:
        return None
    added = Patch(len(case.history) - 1, tuple(sorted(map(excerpt_of, found.chosen))))
    return Assembled(
        plan=plan.model_copy(
            update={
                "action": "patch",
                "reasons": ("a candidate answers that was not sent",),
                "layout": plan.layout.model_copy(update={"patches": (*plan.layout.patches, added)}),
                "candidates": (*found.chosen, *found.dropped),
                "profile": found.profile,
                "found": found.found,
            }
        )
    )


def _among(case: Case, verdict: Verdict | None) -> int:
    if verdict is None:
        return BEST_UNJUDGED
    return BEST_WITH_TOOLS if case.history.works_with_tools else BEST
