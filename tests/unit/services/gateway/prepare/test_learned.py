import math

from hypothesis import given
from hypothesis import strategies as st

from services.gateway.prepare.learned import (
    LEAST_WINDOW,
    MOST_EXTRA,
    MOST_FACTOR,
    SMALL,
    Learned,
    Lesson,
    Off,
    Refused,
    learn_refusal,
)
from services.gateway.upstream.overflow import Overflow

seen = st.tuples(st.integers(1, 100_000), st.integers(1, 100_000))


@given(st.lists(seen, min_size=1, max_size=30))
def test_an_estimate_is_never_below_what_was_just_seen(history: list[tuple[int, int]]) -> None:
    off = Off()
    for claimed, true in history:
        off.saw(claimed, true)
        bounded = off.factor >= MOST_FACTOR or off.extra >= MOST_EXTRA
        assert off.estimate(claimed) >= true or bounded
        assert 1.0 <= off.factor <= MOST_FACTOR
        assert 0 <= off.extra <= MOST_EXTRA


def test_what_was_learned_goes_by_evidence_alone() -> None:
    off = Off()
    off.saw(10_000, 20_000)
    learned = off.factor
    for _ in range(3):
        off.saw(500, 200)
    assert off.factor == learned
    for _ in range(200):
        off.saw(10_000, 9000)
    assert 1.0 <= off.factor < 1.01


def test_what_an_engine_adds_to_a_short_prompt_is_no_factor() -> None:
    off = Off()
    off.saw(20, 90)
    assert (off.factor, off.extra) == (1.0, 70)
    assert off.estimate(50_000) == 50_070


def test_a_smaller_window_explains_a_refusal() -> None:
    lesson = Lesson()
    refused = Refused(8192, bound=7000, measured=5000, counted=5000, answer_asked=False)
    assert learn_refusal(lesson, refused, Overflow(4096, 4900, exact=True)) == 4096
    assert (lesson.window, lesson.bound, lesson.counter) == (4096, Off(), Off())


def test_a_longer_prompt_than_we_counted_explains_it() -> None:
    lesson = Lesson()
    refused = Refused(8192, bound=7000, measured=7000, counted=None, answer_asked=False)
    assert learn_refusal(lesson, refused, Overflow(8192, 9000, exact=True)) == 8192
    assert lesson.bound.estimate(7000) >= 9000
    assert lesson.bound.guess > 9000 / 7000
    lesson.saw(bound=3000, counted=None, true=2000)
    assert lesson.bound.guess == 1.0


def test_an_answer_that_nobody_asked_for_explains_it() -> None:
    lesson = Lesson()
    refused = Refused(8192, bound=7000, measured=7000, counted=None, answer_asked=False)
    assert learn_refusal(lesson, refused, Overflow(8192, 7000, asked=2000, exact=True)) == 6192
    assert lesson.window == 6192


def test_a_lower_bound_explains_nothing_so_the_counter_is_not_believed() -> None:
    lesson = Lesson()
    refused = Refused(8192, bound=9000, measured=7000, counted=7000, answer_asked=False)
    assert learn_refusal(lesson, refused, Overflow(8192, 8193)) == 8192
    assert math.isinf(lesson.counter.estimate(1))
    assert lesson.bound.guess > 3
    lesson.saw(bound=2 * SMALL, counted=None, true=1000)
    assert lesson.counter.estimate(7000) >= 8193


def test_without_any_figure_the_window_is_halved_and_the_next_try_is_the_smallest() -> None:
    lesson = Lesson()
    refused = Refused(262_144, bound=100_000, measured=100_000, counted=None, answer_asked=False)
    nothing = Overflow(None, None)
    assert learn_refusal(lesson, refused, nothing) == LEAST_WINDOW
    assert lesson.window == 50_000
    assert learn_refusal(lesson, refused, Overflow(None, None, beyond=186)) == 262_144


def test_another_engine_begins_anew() -> None:
    learned = Learned()
    learned.of("m", 0).narrow(4096)
    assert learned.of("m", 0).window == 4096
    assert learned.of("other", 0).window is None
    assert learned.of("m", 1).window is None
