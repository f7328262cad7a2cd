"""Decides what the prompt holds: window, memory block, patches. Answers with a plan and its reasons.

`shared/prompt/fate.py` says what happens to the prompt that was sent last; here is what is asked for it.
"""

from functools import partial

from services.assembler.case import Case, Policy, excerpt_of, recall_query
from services.assembler.drift import Verdict, judge
from services.assembler.patch import patch, room_for_patch
from services.assembler.recall import Recall
from shared.contracts.rpc import Assemble, Assembled
from shared.conversation.history import History
from shared.errors import DependencyUnavailable
from shared.prompt.budget import plan_budget
from shared.prompt.fate import Fate, answer_to_drift, fate, to_be_checked
from shared.prompt.place import Placement, evict, has_outside
from shared.prompt.plan import FRAME_TOKENS, Layout
from shared.prompt.state import Tip


async def assemble(request: Assemble, policy: Policy, recall: Recall) -> Assembled:
    history = History.unpack(request.history)
    budget = plan_budget(
        request.window,
        request.max_tokens,
        request.head_tokens,
        policy.limits,
        works_with_tools=history.works_with_tools,
    )
    case = Case(request, history, budget, policy)
    found = fate(
        history, request.tip, budget, request.ratio, policy.assembly_ttl_s, request.at, request.carried
    )
    if request.tip is None or found.action != "reuse":
        return await _rebuild(case, recall, found)
    return await _reuse(case, recall, found, request.tip)


async def _reuse(case: Case, recall: Recall, found: Fate, tip: Tip) -> Assembled:
    layout = tip.layout
    plan = case.plan("reuse", layout, found.placement, tip.built_at)
    if not case.policy.block_drift_rebuild or not to_be_checked(case.history, tip):
        replay = tip.length == len(case.history)
        reason = "the same request again" if replay else found.reason
        return Assembled(plan=plan.model_copy(update={"reasons": (reason,)}))
    try:
        ranked = await recall.retrieve(recall_query(case, layout, budget=0, with_block=True))
        if ranked.missing:
            return Assembled(missing=ranked.missing)
        reply = await recall.rerank(
            case.request, (*ranked.best_inside, *ranked.best_outside), case.policy.block_check_chars
        )
    except DependencyUnavailable as down:
        return Assembled(plan=plan.model_copy(update={"degraded": (down.part,)}))
    verdict = judge(ranked.best_inside, ranked.best_outside, reply)
    plan = plan.model_copy(
        update={
            "degraded": tuple(dict.fromkeys((*ranked.degraded, *reply.degraded))),
            "drift": verdict.lines() if verdict else {},
            "index": ranked.index,
            "indexed_to": ranked.indexed_to,
            "covered_to": ranked.covered_to,
            "reasons": ("what was sent still answers",) if verdict else ("nothing to judge a drift by",),
        }
    )
    room = room_for_patch(case, layout, found.placement)
    answer = partial(
        answer_to_drift,
        case.policy.drift_mode,
        drifted=verdict is not None and verdict.drifted,
        wanted=verdict.wanted if verdict else bool(reply.degraded and ranked.best_outside),
    )
    action = answer(room=room > 0)
    if action == "patch":
        patched = await patch(case, recall, plan, room, verdict)
        if patched is not None:
            return patched
        action = answer(room=False)
    if action == "reuse":
        return Assembled(plan=plan)
    fresh = evict(case.history, tip, case.budget, case.request.ratio)
    return await _rebuild(case, recall, Fate("rebuild", fresh, "what was sent no longer answers"), verdict)


async def _rebuild(case: Case, recall: Recall, found: Fate, verdict: Verdict | None = None) -> Assembled:
    """A new block beside the placement."""
    placement = found.placement
    layout = placement.layout()
    plan = case.plan(found.action, layout, placement, case.request.at)
    plan = plan.model_copy(update={"reasons": (found.reason,), "drift": verdict.lines() if verdict else {}})
    room = min(case.budget.memory, case.budget.usable - placement.tokens)
    budget = int(room / case.request.ratio) - FRAME_TOKENS
    # A task that this very plan cuts is no longer inside, and where it is cut the gateway decides.
    cut = {allowance.position for allowance in placement.allowances}
    inside = layout.model_copy(update={"pinned": tuple(p for p in layout.pinned if p not in cut)})
    if budget <= 0 or not has_outside(inside):
        return Assembled(plan=plan)
    query = recall_query(case, inside, budget=budget, with_block=False, verdict=verdict)
    try:
        chosen = await recall.retrieve(query)
    except DependencyUnavailable as down:
        kept = _inherited_block(case, placement, room)
        return Assembled(plan=plan.model_copy(update={"layout": kept, "degraded": (down.part,)}))
    if chosen.missing:
        return Assembled(missing=chosen.missing)
    return Assembled(
        plan=plan.model_copy(
            update={
                "layout": placement.layout(block=tuple(sorted(map(excerpt_of, chosen.chosen)))),
                "candidates": (*chosen.chosen, *chosen.dropped),
                "profile": chosen.profile,
                "found": chosen.found,
                "index": chosen.index,
                "indexed_to": chosen.indexed_to,
                "covered_to": chosen.covered_to,
                "degraded": chosen.degraded,
            }
        )
    )


def _inherited_block(case: Case, placement: Placement, room: int) -> Layout:
    """Without recall: the block as it was, where it still lies before the window and fits."""
    old = case.tip.layout.block if case.tip else ()
    kept = tuple(e for e in old if e.position < placement.window.start)
    cost = (sum(e.tokens for e in kept) + FRAME_TOKENS) * case.request.ratio
    return placement.layout(block=kept if cost <= room else ())
