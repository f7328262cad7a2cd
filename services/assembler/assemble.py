"""Decides what the prompt holds: window, memory block, drift. Answers with a plan and its reasons.

inherited layout fits, fresh, answers the question    -> reuse: byte for byte what was sent
no tip                                                -> cold
does not fit any more                                 -> evict:   the window jumps, a new block
older than `assembly_ttl_s`                           -> expire:  the same
does not answer, and a candidate does                 -> rebuild: the same
tip was made while a part was down                    -> rebuild of the block, the window stays
"""

from services.assembler.case import Case, Policy, excerpt_of, recall_query
from services.assembler.drift import Verdict, judge
from services.assembler.inside import has_outside
from services.assembler.patch import patch
from services.assembler.recall import Recall
from shared.contracts.rpc import Assemble, Assembled
from shared.conversation.history import History
from shared.errors import DependencyUnavailable
from shared.prompt.budget import plan_budget
from shared.prompt.place import Placement, evict, inherit
from shared.prompt.plan import FRAME_TOKENS, Action, Layout
from shared.prompt.state import Tip


async def assemble(request: Assemble, policy: Policy, recall: Recall) -> Assembled:
    history = History.unpack(request.history)
    budget = plan_budget(request.window, request.max_tokens, request.head_tokens, policy.limits)
    case = Case(request, history, budget, policy)
    tip = request.tip
    if tip is None:
        return await _rebuild(
            case, recall, "cold", evict(history, None, budget, request.ratio), ("no earlier state",)
        )
    grown = inherit(history, tip, budget, request.ratio)
    if grown is None:
        return await _rebuild(
            case, recall, "evict", evict(history, tip, budget, request.ratio), ("the prompt is full",)
        )
    if request.at - tip.built_at >= policy.assembly_ttl_s and has_outside(history, tip.layout):
        return await _rebuild(
            case, recall, "expire", evict(history, tip, budget, request.ratio), ("the block is too old",)
        )
    if tip.degraded and has_outside(history, tip.layout):
        reason = f"built without: {', '.join(tip.degraded)}"
        return await _rebuild(case, recall, "rebuild", grown, (reason,))
    return await _reuse(case, recall, grown, tip)


async def _reuse(case: Case, recall: Recall, grown: Placement, tip: Tip) -> Assembled:
    layout = tip.layout
    plan = case.plan("reuse", layout, grown, tip.built_at)
    replay = tip.length == len(case.history)
    if replay or not case.policy.block_drift_rebuild or not has_outside(case.history, layout):
        reason = "the same request again" if replay else "everything that was sent still fits"
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
    degraded = tuple(dict.fromkeys((*ranked.degraded, *reply.degraded)))
    plan = plan.model_copy(
        update={
            "degraded": degraded,
            "drift": verdict.lines() if verdict else {},
            "index": ranked.index,
            "indexed_to": ranked.indexed_to,
            "covered_to": ranked.covered_to,
            "reasons": ("what was sent still answers",) if verdict else ("nothing to judge a drift by",),
        }
    )
    if verdict is None or not verdict.drifted:
        return Assembled(plan=plan)
    if case.policy.drift_mode == "patch":
        patched = await patch(case, recall, plan, grown, verdict)
        if patched is not None:
            return patched
    fresh = evict(case.history, tip, case.budget, case.request.ratio)
    return await _rebuild(case, recall, "rebuild", fresh, ("what was sent no longer answers",), verdict)


async def _rebuild(
    case: Case,
    recall: Recall,
    action: Action,
    placement: Placement,
    reasons: tuple[str, ...],
    verdict: Verdict | None = None,
) -> Assembled:
    """A new block beside this placement."""
    layout = placement.layout()
    plan = case.plan(action, layout, placement, case.request.at)
    plan = plan.model_copy(update={"reasons": reasons, "drift": verdict.lines() if verdict else {}})
    room = min(case.budget.memory, case.budget.usable - placement.tokens)
    budget = int(room / case.request.ratio) - FRAME_TOKENS
    # A task that this very plan cuts is no longer inside, and where it is cut the gateway decides.
    cut = {allowance.position for allowance in placement.allowances}
    inside = layout.model_copy(update={"pinned": tuple(p for p in layout.pinned if p not in cut)})
    if budget <= 0 or not has_outside(case.history, inside):
        return Assembled(plan=plan)
    query = recall_query(case, inside, budget=budget, with_block=False, verdict=verdict)
    try:
        found = await recall.retrieve(query)
    except DependencyUnavailable as down:
        kept = _inherited_block(case, placement, room)
        return Assembled(plan=plan.model_copy(update={"layout": kept, "degraded": (down.part,)}))
    if found.missing:
        return Assembled(missing=found.missing)
    return Assembled(
        plan=plan.model_copy(
            update={
                "layout": placement.layout(block=tuple(sorted(map(excerpt_of, found.chosen)))),
                "candidates": (*found.chosen, *found.dropped),
                "profile": found.profile,
                "found": found.found,
                "index": found.index,
                "indexed_to": found.indexed_to,
                "covered_to": found.covered_to,
                "degraded": found.degraded,
            }
        )
    )


def _inherited_block(case: Case, placement: Placement, room: int) -> Layout:
    """Without recall: the block as it was, where it still lies before the window and fits."""
    old = case.tip.layout.block if case.tip else ()
    kept = tuple(e for e in old if e.position < placement.window.start)
    cost = (sum(e.tokens for e in kept) + FRAME_TOKENS) * case.request.ratio
    return placement.layout(block=kept if cost <= room else ())
