import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.opaque import opaque_runs
from shared.text.split import split
from tests.support.texts import DATA_URI, base64ish, boundaries, texts


def parts(text: str, target: int) -> list[str]:
    return [text[start:end] for start, end in split(text, target)]


@given(texts(), st.integers(1, 80))
def test_parts_and_opaque_runs_are_the_text_in_order(text: str, target: int) -> None:
    ranges = sorted([*split(text, target), *opaque_runs(text)])
    assert [a for a, _ in ranges] == [0, *(b for _, b in ranges[:-1])][: len(ranges)]
    assert (ranges[-1][1] if ranges else 0) == len(text)
    assert all(a < b for a, b in split(text, target))


@given(texts(), st.integers(1, 80))
def test_never_inside_a_grapheme_and_only_a_single_one_is_longer(text: str, target: int) -> None:
    whole = boundaries(text)
    for start, end in split(text, target):
        assert start in whole
        assert end in whole
        assert end - start <= target or not any(start < b < end for b in whole)


@given(texts(), st.integers(1, 80))
def test_same_text_same_parts(text: str, target: int) -> None:
    assert split(text, target) == split(text, target)


def test_a_part_never_starts_mid_line_where_lines_fit() -> None:
    log = "".join(f"line {i} retry={i % 7}\n" for i in range(300))
    for target in range(40, 200, 7):
        assert all(part.startswith("line ") and part.endswith("\n") for part in parts(log, target))


def test_a_long_line_starts_its_own_part() -> None:
    text = "retry=2\n" + "word " * 30
    assert parts(text, 100)[0] == "retry=2\n" or parts(text, 100)[0].endswith(" ")
    short = "a" * 60 + "\n" + "line 27 " + "b" * 60
    assert parts(short, 100) == ["a" * 60 + "\n", "line 27 " + "b" * 60]


def test_paragraphs_go_before_lines_near_the_target() -> None:
    text = "one\n" * 20 + "\n" + "two\n" * 40
    assert parts(text, 90)[0] == "one\n" * 20 + "\n"


def test_sentences_go_before_words() -> None:
    assert parts("This is it. " * 5 + "And this one goes on and on and on.", 70)[0] == "This is it. " * 5


def test_chinese_sentences_keep_their_closing_quotes() -> None:
    text = "他说：「我们明天去北京。」" + "然后大家都同意了这个计划" * 3
    assert parts(text, 30)[0] == "他说：「我们明天去北京。」"


def test_no_splinter_is_left_at_the_end() -> None:
    text = "word " * 21
    assert min(len(part) for part in parts(text, 100)) > 25


@pytest.mark.parametrize("blob", [DATA_URI, base64ish(2000)])
def test_encoded_runs_are_left_out_whole(blob: str) -> None:
    text = f"before {blob} after"
    assert parts(text, 400) == ["before ", " after"]


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        " ",
        "\n",
        ".",
        ".a",
        "…",
        '!"',
        "。",
        "🇩",
        "\u0301",
        "👩‍",
        "汉",
        "\r",
        "x\ty ",
        "A1b",
        "e.g. ",
        "1. \n",
        "data:",
        "क्",
        "\u0600",
        "각",
        "\u1112",
        "🏽",
        "_",
        '"',
        "…a",
    ],
)
def test_a_million_characters_take_linear_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    started = time.process_time()
    split(text, 2000)
    assert time.process_time() - started < 5
