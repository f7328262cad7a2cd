"""What refusals and usage taught about an engine's window and about our counts, per model.

Kept in the gateway's memory, so that the next request does not run into the same refusal. Forgotten when
the engine changes.
"""

import math
from dataclasses import dataclass, field

from services.gateway.upstream.overflow import Overflow

LEAST_WINDOW = 2048
"""The smallest window that is supported (`max_context`)."""
SMALL = 1024
"""Below so many tokens of the estimate what an engine adds by itself hides how far the estimate is off."""
MOST_EXTRA = 4096
MOST_FACTOR = 16.0
SEEN_MARGIN = 1.1
"""On a factor that was seen: the next prompt is made of other texts."""
SPREAD = 3.2
"""How far the bound's factor differs between texts: English is at 1/3.1 of it, hex at 1 (ADR 0006)."""
DECAY = 0.95
"""Each exact count of a prompt that was estimated too high takes a twentieth of the excess away."""
MODELS_KEPT = 256


@dataclass
class Off:
    """How far a way of counting was below what the engine counts: `estimate` is never below what was seen.

    `guess` is assumed after a refusal that does not say how far it was off, until an exact count tells.
    """

    factor: float = 1.0
    extra: int = 0
    guess: float = 1.0

    def scale(self) -> float:
        return max(self.factor, self.guess)

    def estimate(self, claimed: int) -> float:
        """Infinite where the way is not believed at all."""
        return math.inf if math.isinf(self.scale()) else math.ceil(claimed * self.scale()) + self.extra

    def saw(self, claimed: int, true: int) -> None:
        """The engine's exact count of a prompt that was claimed to be so long."""
        if claimed < SMALL:
            short = true - math.ceil(claimed * self.factor)
            self.extra = min(max(self.extra, short), MOST_EXTRA)
            return
        self.guess = 1.0
        needed = (true - self.extra) / claimed
        if needed > self.factor:
            self.factor = min(needed * SEEN_MARGIN, MOST_FACTOR)
        else:
            self.factor = max(needed, 1.0, 1.0 + (self.factor - 1.0) * DECAY)


@dataclass
class Lesson:
    """About one model. `bound` corrects the upper bound, `counter` the engine's own tokenizer."""

    window: int | None = None
    bound: Off = field(default_factory=Off)
    counter: Off = field(default_factory=Off)

    def narrow(self, window: int) -> None:
        self.window = min(self.window or window, window)

    def saw(self, bound: int, counted: int | None, true: int) -> None:
        """The engine's exact count of a prompt, beside what we thought of it."""
        self.bound.saw(bound, true)
        if counted is not None:
            self.counter.saw(counted, true)
        elif bound >= SMALL:
            self.counter.guess = 1.0


@dataclass(frozen=True)
class Refused:
    """What we thought of a prompt that the engine refused, tokens."""

    window: int
    bound: int
    """Uncorrected."""
    measured: int
    counted: int | None
    """By the engine's own tokenizer, uncorrected; None where `measured` is an estimate."""
    answer_asked: bool
    """The client said how long the answer may be."""


def learn_refusal(lesson: Lesson, refused: Refused, told: Overflow) -> int:
    """What a refusal teaches; the window that the next try must fit, which may be below what is learned.

    A refusal explains itself by a longer prompt than we counted, by a smaller window, or by a longer
    answer than we knew of. Where it does not tell which, the worst is assumed.
    """
    told_window = min(refused.window, told.window or refused.window)
    # What the engine wants for an answer whose length the client left open is never there for a prompt.
    default = 0 if refused.answer_asked or told.asked is None else told.asked
    window = max(told_window - default, 1)
    lesson.narrow(window)
    tokens, exact = told.tokens, told.exact
    if told.beyond is not None:
        tokens, exact = told_window + told.beyond, True
    if tokens is not None and tokens > refused.measured:
        lesson.saw(refused.bound, refused.counted, tokens)
        # What is left after shrinking can be the part that was off most.
        _distrust(lesson, refused, SPREAD * (tokens / max(refused.bound, 1) if exact else 1.0))
        return window
    if exact and window < refused.window:
        return window
    _distrust(lesson, refused, SPREAD)
    if told.window is not None or tokens is not None:
        return window
    lesson.narrow(max(min(window, refused.measured) // 2, LEAST_WINDOW))
    return LEAST_WINDOW


def _distrust(lesson: Lesson, refused: Refused, guess: float) -> None:
    lesson.bound.guess = min(max(lesson.bound.guess, guess, 1.0), MOST_FACTOR)
    if refused.counted is not None:
        lesson.counter.guess = math.inf


class Learned:
    """The lessons of one engine."""

    def __init__(self) -> None:
        self._lessons: dict[str, Lesson] = {}
        self._generation = 0

    def of(self, model: str, generation: int) -> Lesson:
        """`generation` is the engine counter's: with another engine everything is new."""
        if generation != self._generation or len(self._lessons) >= MODELS_KEPT:
            self._lessons, self._generation = {}, generation
        return self._lessons.setdefault(model, Lesson())
