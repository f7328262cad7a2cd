"""How long is this prompt, and does it fit? When unsure, high."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.gateway.prepare.learned import Learned, Lesson
from services.gateway.prepare.source import body_source, head_source
from services.gateway.prepare.templates import Conformed
from services.gateway.reading.request import Request
from shared.errors import DependencyUnavailable
from shared.prompt.place import tokens_after_cuts
from shared.prompt.plan import Layout
from shared.prompt.state import Tip
from shared.tokens.counter import EngineCounter
from shared.tokens.prompt import Prompt

RATIO_MARGIN = 1.03
"""On a ratio that was measured on another part of the conversation than it is used for."""
LIKELY_RATIO = 0.4
"""Of a text's bound: English is at .32 of it, code at .45, Chinese at .57. Beyond it nothing is tried."""
LEAST_RATIO = 0.02
"""No tokenizer makes fewer tokens of real text than this share of the bound; beyond it nothing is asked."""
IMAGE = re.compile(rb'"type"\s*:\s*"(?:image_url|input_image|image)"')
"""Tokenizer endpoints count an image as the mark that the template puts in its place, or not at all."""


@dataclass(frozen=True)
class Measured:
    """Never below what the engine counts, as far as anything is known of it."""

    tokens: int
    exact: bool
    bound: int = 0
    """Upper bound of the same prompt, uncorrected."""
    counted: int | None = None
    """What the engine's tokenizer said, images added; None where it was not asked."""


def image_tokens(request: Request, messages: Sequence[bytes]) -> int:
    return sum(len(IMAGE.findall(message)) for message in messages) * request.reader.image_tokens


def likely_tokens(request: Request, messages: Sequence[bytes], bound: int) -> float:
    """What a prompt may come to that nobody counts; an image costs what it costs."""
    images = image_tokens(request, messages)
    return images + (bound - images) * LIKELY_RATIO


def prompt_bound(request: Request, layout: Layout) -> int:
    """Upper bound of what stands verbatim in a prompt; what is inserted is counted as it is rendered."""
    tokens = tokens_after_cuts(request.shape.history(1.0), layout.cuts, 1.0)
    positions = [*layout.pinned]
    window = int(tokens[layout.window_start :].sum()) + int(tokens[positions].sum())
    return request.head_tokens + window


def carried_tokens(request: Request, tip: Tip | None, lesson: Lesson) -> int | None:
    """What the tip's prompt takes of this one; None where nothing is known of that.

    It is where the request begins with the tip's messages, byte for byte as they were counted. A head that
    is another one is added whole: what the tip counted of the old one only makes the sum higher.
    """
    if tip is None or body_source(request, tip.length) != tip.source:
        return None
    if tip.told:
        known: float = tip.tokens
    elif tip.exact:
        known = lesson.counter.estimate(tip.tokens)
    else:
        known = lesson.bound.estimate(tip.tokens)
    if head_source(request) != tip.head:
        known += math.ceil(request.head_tokens * lesson.bound.scale())
    return None if math.isinf(known) else int(known)


def grown(request: Request, tip: Tip, layout: Layout, lesson: Lesson) -> float:
    """The tip's count plus the new messages; infinite where it says nothing of this prompt."""
    carried = carried_tokens(request, tip, lesson) if layout == tip.layout else None
    if carried is None:
        return math.inf
    return carried + math.ceil(int(request.shape.tokens[tip.length :].sum()) * lesson.bound.scale())


class Measure:
    def __init__(self, counter: EngineCounter) -> None:
        self._counter = counter
        self._learned = Learned()

    def lesson(self, request: Request) -> Lesson:
        return self._learned.of(request.model, self._counter.generation)

    def bounded(self, request: Request, layout: Layout, added: int = 0) -> Measured:
        """By the bound alone, corrected by what was learned; `added` by rendering and the template."""
        bound = prompt_bound(request, layout) + added
        return Measured(int(self.lesson(request).bound.estimate(bound)), exact=False, bound=bound)

    async def measure(
        self, request: Request, layout: Layout, sent: Conformed, tip: Tip | None, limit: int
    ) -> tuple[Measured, str | None]:
        """The cheapest count that decides, and the degradation where the engine's own was missed.

        The bound alone decides most prompts; the engine's tokenizer is asked only where it does not.
        """
        lesson = self.lesson(request)
        bounded = self.bounded(request, layout, sent.added)
        bound, least = bounded.bound, bounded.tokens
        if tip is not None and least > limit:
            known = grown(request, tip, layout, lesson)
            least = least if math.isinf(known) else min(least, int(known) + sent.added)
        estimated = Measured(least, exact=False, bound=bound)
        if least <= limit or bound * LEAST_RATIO > limit:
            return estimated, None
        if math.isinf(lesson.counter.scale()):
            return estimated, "count_estimated"
        try:
            counted = await self._counter.count(_prompt(request, sent.messages))
        except DependencyUnavailable as down:
            return estimated, down.part
        if counted is None:
            return estimated, "count_estimated"
        images = image_tokens(request, sent.messages)
        counted += images
        tokens = int(lesson.counter.estimate(counted))
        if images:
            # Some endpoints do count them, and then they are in it twice; the bound has them once.
            tokens = min(tokens, bounded.tokens)
        elif tokens > bounded.tokens:
            # The bound was too low for this text: so it is for the next one.
            lesson.bound.saw(bound, tokens)
        return Measured(tokens, exact=not images, bound=bound, counted=counted), None

    async def sample_ratio(self, request: Request, layout: Layout, sent: Conformed) -> float:
        """Engine tokens per token of the bound, from a prompt of this conversation's newest messages."""
        bounded = self.bounded(request, layout)
        measured, _ = await self.measure(request, layout, sent, None, limit=bounded.tokens - 1)
        return self.ratio(request, measured)

    def ratio(self, request: Request, measured: Measured) -> float:
        """Engine tokens per token of the bound; where nothing was counted, all that they can be."""
        most = max(self.lesson(request).bound.scale(), 1.0)
        if measured.counted is None:
            return most
        return ratio_of(measured.tokens, measured.bound, most)


def _prompt(request: Request, messages: list[bytes]) -> Prompt:
    return Prompt(request.dialect.NAME, request.model, request.body.fields, messages, request.reader.tenant)


def ratio_of(exact: int, bound: int, most: float = 1.0) -> float:
    return float(np.clip(exact / max(bound, 1) * RATIO_MARGIN, LEAST_RATIO, most))
