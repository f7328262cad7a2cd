"""How long is this prompt, and does it fit? When unsure, high."""

from dataclasses import dataclass

import numpy as np

from services.gateway.request import Request
from shared.errors import DependencyUnavailable
from shared.prompt.place import excerpt_tokens, tokens_after_cuts
from shared.prompt.plan import Layout
from shared.prompt.state import Tip
from shared.tokens.counter import EngineCounter

RATIO_MARGIN = 1.03
"""On a ratio that was measured on another part of the conversation than it is used for."""
LEAST_RATIO = 0.02
"""No tokenizer makes fewer tokens of real text than this share of the bound; beyond it nothing is asked."""


@dataclass(frozen=True)
class Measured:
    """Never below what the engine counts."""

    tokens: int
    exact: bool


def prompt_bound(request: Request, layout: Layout) -> int:
    """Upper bound of a rendered prompt."""
    tokens = tokens_after_cuts(request.shape.history(1.0), layout.cuts, 1.0)
    positions = [*layout.pinned]
    window = int(tokens[layout.window_start :].sum()) + int(tokens[positions].sum())
    return request.head_tokens + window + excerpt_tokens(layout, 1.0)


def grown_bound(request: Request, tip: Tip, layout: Layout) -> int | None:
    """The tip's count plus the new messages, where the prompt is the tip's and nothing else changed."""
    if layout != tip.layout or request.head_tokens != tip.head_tokens:
        return None
    return tip.tokens + int(request.shape.tokens[tip.length :].sum())


class Measure:
    def __init__(self, counter: EngineCounter) -> None:
        self._counter = counter

    async def measure(
        self, request: Request, layout: Layout, messages: list[bytes], tip: Tip | None, limit: int
    ) -> tuple[Measured, str | None]:
        """The cheapest count that decides, and the degradation where the engine's own was missed.

        The bound alone decides most prompts; the engine's tokenizer is asked only where it does not.
        """
        grown = grown_bound(request, tip, layout) if tip else None
        bound = prompt_bound(request, layout)
        least = min(bound, grown) if grown is not None else bound
        if least <= limit or bound * LEAST_RATIO > limit:
            return Measured(least, exact=False), None
        try:
            exact = await self._counter.count(request.body.fields, messages)
        except DependencyUnavailable as down:
            return Measured(least, exact=False), down.part
        if exact is None:
            return Measured(least, exact=False), "count_estimated"
        return Measured(exact, exact=True), None

    async def sample_ratio(self, request: Request, layout: Layout, messages: list[bytes]) -> float:
        """Engine tokens per token of the bound, from a prompt of this conversation's newest messages."""
        try:
            exact = await self._counter.count(request.body.fields, messages)
        except DependencyUnavailable:
            return 1.0
        if exact is None:
            return 1.0
        return ratio_of(exact, prompt_bound(request, layout))


def ratio_of(exact: int, bound: int) -> float:
    return float(np.clip(exact / max(bound, 1) * RATIO_MARGIN, LEAST_RATIO, 1.0))
