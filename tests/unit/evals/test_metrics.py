import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.judged import Judged
from evals.metrics import SHINGLE, aeh, all_found, difference, er, found, found_share, interval, present

TEXT = "The staging server of project Falcon listens on port 4711, and nobody may change it before May."


def judged(case: str, question: str, share: float) -> Judged:
    return Judged(case, question, "all", 1024, share, 1000)


def test_a_text_is_present_whole() -> None:
    assert present(TEXT, f"before {TEXT} after")
    assert not present(TEXT, "something else altogether, and long enough to hold a run of its own")


def test_a_text_is_present_with_80_percent_of_its_characters() -> None:
    most = math.ceil(0.8 * len(TEXT))
    assert present(TEXT, TEXT[:most])
    assert not present(TEXT, TEXT[: most - 1])


def test_two_parts_count_together() -> None:
    middle = len(TEXT) // 2
    assert present(TEXT, f"{TEXT[middle:]} ... {TEXT[:middle]}")


def test_short_runs_do_not_count() -> None:
    scattered = " - ".join(TEXT[i : i + SHINGLE - 1] for i in range(0, len(TEXT), SHINGLE - 1))
    assert not present(TEXT, scattered)
    assert not present("port 4711", "port 47 and 11")


@settings(deadline=None)
@given(st.text(min_size=1, max_size=200), st.text(max_size=200), st.integers(0, 200))
def test_presence_is_what_counting_characters_says(text: str, other: str, cut: int) -> None:
    prompt = other + text[:cut] + other
    size = min(SHINGLE, len(text))
    covered = [False] * len(text)
    for start in range(len(text) - size + 1):
        if text[start : start + size] in prompt:
            covered[start : start + size] = [True] * size
    assert present(text, prompt) == (not text.strip() or sum(covered) >= 0.8 * len(text))


def test_strings_must_be_there_whole() -> None:
    evidence = ["src/app/main.py", "4f3c9a"]
    assert found_share(evidence, "open src/app/main.py", whole=True) == 0.5


def test_er_is_a_mean_of_shares_and_aeh_of_whole_ones() -> None:
    rows = [judged("a", "1", 1.0), judged("a", "2", 0.5), judged("b", "1", 0.0)]
    assert er(rows) == 0.5
    assert aeh(rows) == pytest.approx(1 / 3)


def test_an_interval_is_over_conversations() -> None:
    one = [judged("a", str(n), n % 2) for n in range(100)]
    assert interval(one, all_found) == (0.5, 0.5)
    two = [*one, *(judged("b", str(n), 1.0) for n in range(100))]
    low, high = interval(two, found)
    assert (low, high) == (0.5, 1.0)


def test_a_difference_is_paired_by_question() -> None:
    first = [judged(case, q, 1.0) for case in "abcd" for q in "12"]
    second = [judged(case, q, float(q == "1")) for case in "abcd" for q in "123"]
    # Whatever conversations are drawn, each differs by one of its two questions.
    assert difference(first, second, all_found) == (0.5, 0.5, 0.5)


def test_without_a_common_question_there_is_no_difference() -> None:
    assert all(map(math.isnan, difference([judged("a", "1", 1.0)], [judged("b", "1", 1.0)], found)))
