"""From a client's request to the body that the engine is sent.

surely fits, far from full  -> forwarded byte for byte; nothing else happens
fits                        -> forwarded byte for byte; messages are published beside it
does not fit                -> assembled (services/gateway/assembled.py)
"""

import asyncio
from collections.abc import Callable, Coroutine

import structlog

from services.gateway.assembled import Assembly
from services.gateway.clamp import clamped
from services.gateway.dialects.base import Usage
from services.gateway.measure import Measured, prompt_bound, ratio_of
from services.gateway.overflow import Overflow
from services.gateway.prepared import Policy, Prepared
from services.gateway.publish import Publisher
from services.gateway.request import Request
from services.gateway.tips import Tips
from shared.bus import Bus
from shared.errors import DependencyUnavailable
from shared.prompt.budget import output_reserve
from shared.prompt.plan import Layout
from shared.prompt.state import Tip
from shared.telemetry import DEGRADATIONS
from shared.tokens.counter import EngineCounter

log = structlog.get_logger(__name__)

LEAST_SHRINK = 1.05
"""By how much a refused prompt shrinks at the least, where the engine does not say how far it was off."""


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
        window = min(self._policy.max_context, told or self._policy.max_context)
        limits = self._policy.limits
        limit = window - limits.ctx_slack - output_reserve(window, request.max_tokens, limits)
        bound = request.head_tokens + int(request.shape.tokens.sum())
        done = Prepared(
            "passthrough",
            window,
            limit,
            Measured(bound, exact=False),
            timings={"read": request.read_s},
        )
        if bound <= limit * self._policy.publish_from:
            return self._passthrough(request, done)
        with done.stage("tip"):
            await self._find_tip(request, done)
        with done.stage("count"):
            done.measured, missed = await self._assembly.measure.measure(
                request, Layout(), request.body.messages, done.parent, limit
            )
        if done.measured.tokens > limit:
            if missed:
                done.degrade(missed)
            return await self._assembly.assemble(request, session, done)
        self._leave_tip(request, session, done, bound)
        return self._passthrough(request, done)

    async def _find_tip(self, request: Request, done: Prepared) -> None:
        try:
            done.parent = await self._tips.find(request)
        except DependencyUnavailable as down:
            done.degrade(down.part)
        done.published_to = min(done.parent.published_to, len(request.shape)) if done.parent else 0

    def _passthrough(self, request: Request, done: Prepared) -> Prepared:
        changed = clamped(request, done, self._policy)
        done.body = (
            request.body.with_messages(request.body.messages, changed) if changed else request.body.raw
        )
        return done

    def _leave_tip(self, request: Request, session: str, done: Prepared, bound: int) -> None:
        """The next request counts only what is new; from `publish_from` on the history is published.

        Beside the forwarding, which must not wait for it: nothing of this request needs it.
        """
        parent = done.parent
        ratio = (
            ratio_of(done.measured.tokens, bound) if done.measured.exact else parent.ratio if parent else 1.0
        )
        tip = Tip(
            length=len(request.shape),
            layout=Layout(),
            tokens=done.measured.tokens,
            exact=done.measured.exact,
            head_tokens=request.head_tokens,
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
            self.beside(self._publish(request, session, tip))

    async def _publish(self, request: Request, session: str, tip: Tip) -> None:
        try:
            positions = range(tip.published_to, tip.length)
            await self._publisher.publish(request, session, positions, self._clock())
            await self._tips.put(request, tip.model_copy(update={"published_to": tip.length}))
        except DependencyUnavailable as down:
            # The tip says what is published; a later request catches up.
            DEGRADATIONS.labels(part=down.part).inc()
            log.warning("publishing put off", part=down.part, session=session)

    async def prepare_smaller(
        self, request: Request, session: str, refused: Prepared, overflow: Overflow
    ) -> Prepared:
        """After a refusal: assembled for the window that the engine told, or by as much as we were off."""
        window = min(refused.window, overflow.window or refused.window)
        told = max(overflow.tokens or 0, refused.measured.tokens)
        off = max(told / max(refused.measured.tokens, 1), LEAST_SHRINK) if window == refused.window else 1.0
        window = int(window / off)
        limits = self._policy.limits
        done = Prepared(
            "assembled",
            window,
            window - limits.ctx_slack - output_reserve(window, request.max_tokens, limits),
            refused.measured,
            parent=refused.parent,
            published_to=refused.published_to,
            degraded=refused.degraded,
            timings=refused.timings,
        )
        return await self._assembly.assemble(request, session, done)

    def learn(self, request: Request, done: Prepared, usage: Usage) -> None:
        """What the engine counted goes to the tip, so that the next request starts from the truth."""
        if done.tip is None or usage.prompt_tokens is None or usage.prompt_tokens == done.tip.tokens:
            return
        ratio = ratio_of(usage.prompt_tokens, prompt_bound(request, done.layout))
        tip = done.tip.model_copy(update={"tokens": usage.prompt_tokens, "exact": True, "ratio": ratio})
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
