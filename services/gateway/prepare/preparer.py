"""From a client's request to the body that the engine is sent.

surely fits, far from full  -> forwarded byte for byte; nothing else happens
fits                        -> forwarded byte for byte; messages are published beside it
does not fit                -> assembled (services/gateway/prepare/assembled.py)
"""

import asyncio
from collections.abc import Callable, Coroutine

import structlog

from services.gateway.dialects.base import Usage
from services.gateway.prepare.assembled import Assembly
from services.gateway.prepare.clamp import clamped
from services.gateway.prepare.learned import LEAST_WINDOW, Refused, learn_refusal
from services.gateway.prepare.measure import ratio_of
from services.gateway.prepare.prefix import account
from services.gateway.prepare.prepared import Policy, Prepared, too_long
from services.gateway.prepare.publish import Publisher
from services.gateway.prepare.source import body_source, head_source
from services.gateway.prepare.templates import Conformed, conformed
from services.gateway.prepare.tips import Tips
from services.gateway.prepare.truncation import was_truncated, window_shown
from services.gateway.reading.request import Request
from services.gateway.upstream.overflow import Overflow
from shared.bus import Bus
from shared.errors import ContextLengthExceeded, DependencyUnavailable
from shared.prompt.budget import output_reserve
from shared.prompt.plan import Layout
from shared.prompt.state import Tip
from shared.telemetry import DEGRADATIONS
from shared.tokens.counter import EngineCounter

log = structlog.get_logger(__name__)


class Preparer:
    def __init__(
        self, bus: Bus, tips: Tips, counter: EngineCounter, policy: Policy, clock: Callable[[], float]
    ) -> None:
        self._publisher = Publisher(bus)
        self._tips = tips
        self._counter = counter
        self._policy = policy
        self._clock = clock
        self._assembly = Assembly(bus, self._publisher, tips, counter, policy, clock)
        self._background: set[asyncio.Task[None]] = set()

    async def prepare(self, request: Request, session: str) -> Prepared:
        """Raises `ContextLengthExceeded` where head and last step fit no prompt."""
        told = await self._counter.window(request.model)
        measure = self._assembly.measure
        known = [told, measure.lesson(request).window]
        window = min([self._policy.max_context, *(w for w in known if w is not None)])
        limits = self._policy.limits
        limit = window - limits.ctx_slack - output_reserve(window, request.max_tokens, limits)
        sent = conformed(request, request.body.messages, self._policy.template)
        bounded = measure.bounded(request, Layout(), sent.added)
        done = Prepared(
            "passthrough",
            window,
            limit,
            bounded,
            timings={"read": request.read_s},
        )
        if bounded.tokens <= limit * self._policy.publish_from:
            return self._passthrough(request, sent, done)
        if not len(request.shape):
            return await self._head_alone(request, sent, done)
        with done.stage("tip"):
            await self._find_tip(request, session, done)
        with done.stage("count"):
            done.measured, missed = await measure.measure(request, Layout(), sent, done.parent, limit)
        if done.measured.tokens > limit:
            if missed:
                done.degrade(missed)
            return await self._assembly.assemble(request, session, done)
        done.prefix = account(request, done.parent, Layout(), done.measured, "whole")
        self._leave_tip(request, session, done)
        return self._passthrough(request, sent, done)

    async def _head_alone(self, request: Request, sent: Conformed, done: Prepared) -> Prepared:
        """System messages and nothing else: there is nothing to recall, and nothing that may be cut."""
        with done.stage("count"):
            done.measured, _ = await self._assembly.measure.measure(request, Layout(), sent, None, done.limit)
        if done.measured.tokens > done.limit:
            raise too_long(done, done.measured.tokens)
        return self._passthrough(request, sent, done)

    async def _find_tip(self, request: Request, session: str, done: Prepared) -> None:
        done.era = await self._tips.era(request, session)
        try:
            done.parent = await self._tips.find(request, session, done.era)
        except DependencyUnavailable as down:
            done.degrade(down.part)
        # What another session published is not this one's: if that one is erased, it must stay.
        if done.parent is not None and done.parent.session == session:
            done.published_to = min(done.parent.published_to, len(request.shape))

    def _passthrough(self, request: Request, sent: Conformed, done: Prepared) -> Prepared:
        changed = clamped(request, done, self._policy)
        as_it_came = sent.messages is request.body.messages and not changed
        done.body = request.body.raw if as_it_came else request.body.with_messages(sent.messages, changed)
        return done

    def _leave_tip(self, request: Request, session: str, done: Prepared) -> None:
        """The next request counts only what is new; from `publish_from` on the history is published.

        Beside the forwarding, which must not wait for it: nothing of this request needs it.
        """
        parent = done.parent
        ratio = self._assembly.measure.ratio(request, done.measured)
        if not done.measured.exact and parent is not None:
            ratio = parent.ratio
        tip = Tip(
            tenant=request.reader.tenant,
            session=session,
            era=done.era,
            length=len(request.shape),
            layout=Layout(),
            tokens=done.measured.tokens,
            exact=done.measured.exact,
            head=head_source(request),
            source=body_source(request, len(request.shape)),
            ratio=ratio,
            built_at=self._clock(),
            published_to=done.published_to,
            index=parent.index if parent else "",
            indexed_to=parent.indexed_to if parent else 0,
            covered_to=parent.covered_to if parent else 0,
        )
        done.tip = tip
        self._tips.remember(request, tip)
        if done.measured.tokens >= done.limit * self._policy.publish_from:
            self.beside(self._publish(request, tip))

    async def _publish(self, request: Request, tip: Tip) -> None:
        try:
            positions = range(tip.published_to, tip.length)
            await self._publisher.publish(request, (tip.session, tip.era), positions, self._clock())
            await self._tips.put(request, tip.model_copy(update={"published_to": tip.length}))
        except DependencyUnavailable as down:
            # The tip says what is published; a later request catches up.
            DEGRADATIONS.labels(part=down.part).inc()
            log.warning("publishing put off", part=down.part)

    async def prepare_smaller(
        self, request: Request, session: str, refused: Prepared, overflow: Overflow
    ) -> Prepared:
        """After a refusal: assembled for the window that the engine told, or by as much as we were off."""
        if not len(request.shape):
            raise self.give_up(request, refused, overflow)
        window = self._learn_refusal(request, refused, overflow)
        limits = self._policy.limits
        done = Prepared(
            "assembled",
            window,
            window - limits.ctx_slack - output_reserve(window, request.max_tokens, limits),
            refused.measured,
            last_resort=True,
            parent=refused.parent,
            era=refused.era,
            published_to=refused.published_to,
            degraded=refused.degraded,
            timings=refused.timings,
        )
        done = await self._assembly.assemble(request, session, done)
        if done.body == refused.body:
            raise self.give_up(request, refused, overflow)
        return done

    async def count(self, request: Request) -> int:
        """Tokens of all that the request brings: the engine's count, or what it never exceeds."""
        sent = conformed(request, request.body.messages, self._policy.template)
        measure = self._assembly.measure
        limit = measure.bounded(request, Layout(), sent.added).tokens - 1
        measured, _ = await measure.measure(request, Layout(), sent, None, limit)
        return measured.tokens

    def give_up(self, request: Request, refused: Prepared, overflow: Overflow) -> ContextLengthExceeded:
        """The one clear error, after the smaller form was refused too or where there is none."""
        self._learn_refusal(request, refused, overflow)
        window = overflow.window or refused.window
        return ContextLengthExceeded(
            f"This model's maximum context length is {window} tokens. The system prompt, the tools and the "
            f"last message alone need more, as the engine counts them. Please shorten them."
        )

    def _learn_refusal(self, request: Request, refused: Prepared, overflow: Overflow) -> int:
        measured = refused.measured
        lesson = self._assembly.measure.lesson(request)
        seen = Refused(
            refused.window, measured.bound, measured.tokens, measured.counted, request.max_tokens is not None
        )
        return learn_refusal(lesson, seen, overflow)

    def learn(self, request: Request, done: Prepared, usage: Usage) -> None:
        """What the engine counted goes to the tip, so that the next request starts from the truth."""
        told, measured = usage.prompt_tokens, done.measured
        truncated = told is not None and was_truncated(request, done.layout, measured, told)
        if done.prefix is not None:
            if told is not None and not truncated:
                done.prefix = done.prefix.as_told(told)
            done.prefix.observe()
        if told is None:
            return
        lesson = self._assembly.measure.lesson(request)
        if truncated:
            # Its count is of another prompt: nothing that it says holds for ours.
            done.degrade("engine_truncated")
            lesson.narrow(max(window_shown(told), LEAST_WINDOW))
            log.warning("engine dropped a part of the prompt", told=told, window=lesson.window)
            return
        if usage.window_full and usage.completion_tokens is not None:
            lesson.narrow(told + usage.completion_tokens)
        lesson.saw(measured.bound, measured.counted, told)
        if done.tip is None or (done.tip.told and told == done.tip.tokens):
            return
        ratio = ratio_of(told, measured.bound, lesson.bound.scale())
        tip = done.tip.model_copy(update={"tokens": told, "exact": True, "told": True, "ratio": ratio})
        self._tips.remember(request, tip)
        if done.mode == "assembled":
            self.beside(self._put(request, tip))

    async def _put(self, request: Request, tip: Tip) -> None:
        try:
            await self._tips.put(request, tip)
        except DependencyUnavailable as down:
            DEGRADATIONS.labels(part=down.part).inc()

    def beside(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        """Run beside the request, not before its answer."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    async def settle(self) -> None:
        """Wait for what runs beside the requests; at shutdown."""
        await asyncio.gather(*self._background, return_exceptions=True)
