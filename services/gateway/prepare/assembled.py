"""The assembled path: publish, plan, render, count, and never send what does not fit."""

import asyncio
from collections.abc import Callable

import numpy as np

from services.gateway.prepare.clamp import clamped
from services.gateway.prepare.draft import Draft, places, rendered, resolve
from services.gateway.prepare.local import local_plan
from services.gateway.prepare.measure import Measure, carried_tokens, likely_tokens, prompt_bound
from services.gateway.prepare.prefix import account
from services.gateway.prepare.prepared import Policy, Prepared, too_long
from services.gateway.prepare.publish import Publisher
from services.gateway.prepare.source import body_source, head_source
from services.gateway.prepare.tips import Tips
from services.gateway.reading.request import Request
from shared.bus import ASSEMBLE, Bus
from shared.contracts.rpc import Assemble
from shared.errors import DependencyUnavailable
from shared.prompt.budget import Budget, plan_budget
from shared.prompt.converge import shrinkings
from shared.prompt.place import evict, excerpt_tokens
from shared.prompt.plan import Layout, Plan
from shared.prompt.state import Tip
from shared.prompt.window import last_step
from shared.telemetry import EXCERPTS_DROPPED
from shared.tokens.counter import EngineCounter

FIRST_POLL_S = 0.02
LAST_POLL_S = 0.5
REPUBLISH_S = 20.0
SEARCH_CHARS_PER_TOKEN = 4
NOT_FRESH = frozenset(
    {
        "retriever_unavailable",
        "assembler_unavailable",
        "bus_unavailable",
        "index_incomplete",
        "embed_unavailable",
    }
)
"""Degradations under which recall was less than it can be: the next request builds its block anew."""


class Assembly:
    def __init__(
        self,
        bus: Bus,
        publisher: Publisher,
        tips: Tips,
        counter: EngineCounter,
        policy: Policy,
        clock: Callable[[], float],
    ) -> None:
        self.measure = Measure(counter)
        self._bus = bus
        self._publisher = publisher
        self._tips = tips
        self._policy = policy
        self._clock = clock

    async def assemble(self, request: Request, session: str, done: Prepared) -> Prepared:
        done.mode = "assembled"
        with done.stage("publish"):
            await self._publish(request, session, done)
        ratio = await self._ratio(request, done)
        done.carried = carried_tokens(request, done.parent, self.measure.lesson(request))
        plan, draft = await self._plan(request, session, done, ratio)
        if draft.measured.tokens > done.limit:
            # Counted exactly, the ratio is known; counted by the bound, only the bound is safe.
            ratio = max(self.measure.ratio(request, draft.measured), ratio)
            done.carried = None
            done.shrunk.append("planned again with the true counts")
            plan, draft = await self._plan(request, session, done, ratio)
        if draft.measured.tokens > done.limit:
            draft = await self._converge(request, done, plan, draft)
        await self._finish(request, session, done, plan, draft, ratio)
        return done

    async def _publish(self, request: Request, session: str, done: Prepared) -> None:
        try:
            positions, said = range(done.published_to, len(request.shape)), (session, done.era)
            done.just_published = await self._publisher.publish(request, said, positions, self._clock())
            done.published_to = len(request.shape)
        except DependencyUnavailable as down:
            done.degrade(down.part)

    async def _ratio(self, request: Request, done: Prepared) -> float:
        """Without a tip nothing is known of this text; the newest messages are counted."""
        guess = self.measure.lesson(request).bound.guess
        if guess > 1.0:
            return guess
        if done.parent is not None:
            return done.parent.ratio
        placement = evict(request.shape.history(1.0), None, self._budget(request, done, 1.0), 1.0)
        layout = resolve(request, placement.layout(), placement.allowances, 1.0, self._policy)
        _, sent = rendered(request, layout, self._policy)
        with done.stage("count"):
            return await self.measure.sample_ratio(request, layout, sent)

    def _budget(self, request: Request, done: Prepared, ratio: float) -> Budget:
        head = int(np.ceil(request.head_tokens * ratio)) + self.measure.lesson(request).bound.extra
        return plan_budget(
            done.window,
            request.max_tokens,
            head,
            self._policy.limits,
            works_with_tools=request.shape.history(1.0).works_with_tools,
        )

    async def _plan(self, request: Request, session: str, done: Prepared, ratio: float) -> tuple[Plan, Draft]:
        budget = self._budget(request, done, ratio)
        with done.stage("assemble"):
            try:
                plan = await self._ask(request, session, done, budget, ratio)
            except DependencyUnavailable as down:
                history = request.shape.history(ratio)
                plan = local_plan(history, done.parent, budget, ratio, self._clock(), down.part, done.carried)
        for part in plan.degraded:
            done.degrade(part)
        layout = resolve(request, plan.layout, plan.allowances, ratio, self._policy)
        return plan, await self._draft(request, done, layout)

    async def _ask(
        self, request: Request, session: str, done: Prepared, budget: Budget, ratio: float
    ) -> Plan:
        """Ask until the terms of what is older than the window are there, or `embed_wait_s` is over."""
        now = self._clock()
        deadline, delay = now + self._policy.embed_wait_s, FIRST_POLL_S
        # What was published before and is missing was lost; what was published just now takes its time.
        on_the_way, republish_at = done.just_published, now
        query = Assemble(
            tenant=request.reader.tenant,
            history=request.shape.history(ratio).pack(),
            ratio=ratio,
            head_tokens=budget.head,
            window=done.window,
            max_tokens=request.max_tokens,
            search=request.search_texts(int(budget.query * SEARCH_CHARS_PER_TOKEN / ratio)),
            tip=done.parent,
            carried=done.carried,
            at=now,
            wait_for_index="bus_unavailable" not in done.degraded,
        )
        done.asked = query
        while True:
            reply = await self._bus.call(ASSEMBLE, query, timeout_s=self._policy.assemble_timeout_s)
            if reply.plan is not None:
                return reply.plan
            now = self._clock()
            # Of a session that was erased meanwhile nothing more comes.
            if now >= deadline or await self._tips.era(request, session) > done.era:
                query = query.model_copy(update={"wait_for_index": False})
                continue
            if now >= republish_at:
                lost = [p for p in reply.missing if p not in on_the_way]
                await self._publisher.republish(request, (session, done.era), lost, now)
                on_the_way, republish_at = frozenset(), now + REPUBLISH_S
            await asyncio.sleep(delay)
            delay = min(delay * 1.5, LAST_POLL_S)

    async def _draft(self, request: Request, done: Prepared, layout: Layout) -> Draft:
        with done.stage("render"):
            view, sent = rendered(request, layout, self._policy)
        with done.stage("count"):
            measured, missed = await self.measure.measure(request, layout, sent, done.parent, done.limit)
        return Draft(layout, view, sent.messages, measured, missed)

    async def _converge(self, request: Request, done: Prepared, plan: Plan, draft: Draft) -> Draft:
        """Give way until it fits; counted by the ratio on the way, by the engine where that says yes."""
        lesson = self.measure.lesson(request)
        worth = {(c[0], c[1], c[3]): float(c[11]) for c in plan.candidates}
        smaller = shrinkings(
            draft.layout,
            request.shape.history(1.0),
            request.units,
            lambda position, unit, start: worth.get((position, unit, start), float(position)),
            self._policy.coefficients,
            least_tokens=max(int(done.limit / lesson.bound.scale()) - request.head_tokens, 0) // 2,
            policies=self._policy.tools,
        )
        ratio = draft.measured.tokens / max(draft.measured.bound, 1)
        layout = draft.layout
        for gave_up, layout in smaller:
            done.shrunk.append(gave_up)
            bound = prompt_bound(request, layout) + excerpt_tokens(layout, 1.0)
            if bound * ratio <= done.limit:
                draft = await self._draft(request, done, layout)
                if draft.measured.tokens <= done.limit:
                    return draft
        draft = await self._draft(request, done, layout)
        guess = done.last_resort or lesson.bound.guess > 1.0
        if draft.measured.counted is None:
            guess = guess or likely_tokens(request, draft.messages, draft.measured.bound) <= done.limit
        if draft.measured.tokens <= done.limit or guess:
            # After a refusal, or where nobody counts: the engine alone knows whether the smallest fits.
            return draft
        raise too_long(done, draft.measured.tokens)

    async def _finish(
        self, request: Request, session: str, done: Prepared, plan: Plan, draft: Draft, ratio: float
    ) -> None:
        """The tip is written before the prompt is forwarded, so that a retry finds it."""
        if draft.missed:
            done.degrade(draft.missed)
        done.plan, done.layout, done.measured = plan, draft.layout, draft.measured
        done.rejected = draft.rendered.rejected
        done.places = places(request, draft)
        last_cut = max((cut.position for cut in draft.layout.cuts), default=-1)
        if last_cut >= last_step(request.shape.history(1.0)):
            done.degrade("message_cut")
        EXCERPTS_DROPPED.inc(done.rejected)
        done.prefix = account(request, done.parent, draft.layout, draft.measured, _changed_by(done, plan))
        changed = clamped(request, done, self._policy)
        done.body = request.body.with_messages(draft.messages, changed)
        exact = draft.measured.exact
        done.tip = Tip(
            tenant=request.reader.tenant,
            session=session,
            era=done.era,
            length=len(request.shape),
            layout=draft.layout,
            tokens=draft.measured.tokens,
            exact=exact,
            head=head_source(request),
            source=body_source(request, len(request.shape)),
            ratio=self.measure.ratio(request, draft.measured) if exact else ratio,
            built_at=plan.built_at,
            published_to=done.published_to,
            index=plan.index,
            indexed_to=plan.indexed_to,
            covered_to=plan.covered_to,
            degraded=tuple(part for part in done.degraded if part in NOT_FRESH),
        )
        with done.stage("tip"):
            try:
                await self._tips.put(request, done.tip)
            except DependencyUnavailable as down:
                done.degrade(down.part)


def _changed_by(done: Prepared, plan: Plan) -> str:
    """What made the prompt another one than a longer form of the last, if it is another one."""
    if done.last_resort:
        return "refused"
    return "shrunk" if plan.action in ("reuse", "patch") else plan.action
