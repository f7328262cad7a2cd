import threading
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.terms import AVERAGE_LENGTH, K1, B, document_terms, query_terms, term_index, tokens
from shared.text.words import LONGEST_TOKEN
from tests.support.texts import base64ish, texts


def test_words_are_lower_case_stems_without_stop_words() -> None:
    assert tokens("The Runners were RUNNING to the meetings") == ["runner", "run", "meet"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("QN-200", "qn200"),
        ("max_tokens", "maxTokens"),
        ("1,000", "1000"),
        ("$1,234,567", "1234567"),
        ("v2.3.1", "2.3.1"),
        ("8th", "8"),
        ("URLs", "url"),
        ("John's", "John"),
        ("John’s", "John"),
        ("José Zoë", "Jose Zoe"),
        ("ＱＮ－２００", "QN-200"),
        ("550E8400-E29B-41D4-A716-446655440000", "550e8400-e29b-41d4-a716-446655440000"),
    ],
)
def test_spellings_of_one_thing_are_one_thing(one: str, other: str) -> None:
    assert Counter(tokens(one)) == Counter(tokens(other))


@pytest.mark.parametrize(
    ("text", "found_by"),
    [
        ("order E-1042 failed", "E-1042"),
        ("order E-1042 failed", "1042"),
        ("def max_tokens(self)", "tokens"),
        ("class RecordedMessage:", "message"),
        ("see shared/text/terms.py", "terms.py"),
        ("see /usr/lib/shared/text/terms.py:14", "shared"),
        ("upgrade to 2.3.1", "2.3"),
        ("mail bob.smith@example.org", "bob.smith@example.org"),
        ("mail bob.smith@example.org", "smith"),
        ("commit 3f2a9c1d4e5b6a7f8091", "3f2a9c1"),
        ("550e8400-e29b-41d4-a716-446655440000", "550e8400"),
        ("three e-mails", "email"),
        ("R&D in C++ and C#", "c++"),
        ("我们去了北京大学", "北京大学"),
        ("我们去了北京大学", "京大"),
        ("養了一隻貓", "貓"),
        ("日本語のテスト", "テスト"),
        ("한국어를 배웠다", "한국어"),
        ("ภาษาไทย", "ไทย"),
        ("on 2023-05-08T10:22:33Z it broke", "May 2023"),
    ],
)
def test_a_text_is_found_by_its_parts(text: str, found_by: str) -> None:
    assert set(tokens(found_by))
    assert set(tokens(found_by)) <= set(tokens(text)) | {"may"}


def test_a_hash_keeps_its_value() -> None:
    """Stored: another value would need every collection to be filled anew."""
    assert term_index("backscroll") == 4135586235
    assert term_index("北京") == 3429596817


def test_document_values_are_saturated_term_frequencies() -> None:
    terms = dict(zip(*document_terms("apple apple banana"), strict=True))
    norm = K1 * (1 - B + B * 3 / AVERAGE_LENGTH)
    assert terms[term_index("appl")] == pytest.approx(2 * (K1 + 1) / (2 + norm))
    assert terms[term_index("banana")] == pytest.approx((K1 + 1) / (1 + norm))


def test_a_word_weighs_less_in_a_longer_text() -> None:
    short = dict(zip(*document_terms("apple pie"), strict=True))
    long = dict(zip(*document_terms("apple pie " + "crust " * 100), strict=True))
    assert long[term_index("appl")] < short[term_index("appl")]


def test_query_weights_of_one_token_are_summed() -> None:
    terms = query_terms([("appl", 1.0), ("pie", 0.25), ("appl", 0.5)])
    assert dict(zip(*terms, strict=True)) == {term_index("appl"): 1.5, term_index("pie"): 0.25}
    assert query_terms([]) == ((), ())


@given(texts())
def test_a_sparse_vector_is_well_formed(text: str) -> None:
    for terms in (document_terms(text), query_terms([(token, 1.0) for token in tokens(text)])):
        assert list(terms.indices) == sorted(set(terms.indices))
        assert all(0 <= index < 2**32 for index in terms.indices)
        assert len(terms.values) == len(terms.indices)
        assert all(value > 0 for value in terms.values)


@given(texts(), texts())
def test_a_text_has_the_terms_of_its_lines(one: str, other: str) -> None:
    together = Counter(tokens(f"{one}\n\n.\n\n{other}"))
    assert not Counter(tokens(one)) - together or "base64" in one + other or len(one + other) >= 512


@given(st.text(alphabet="ABCxyz019+/=-_.", min_size=65, max_size=3000))
def test_no_word_explodes(text: str) -> None:
    found = tokens(text)
    assert len(found) <= len(text)
    assert all(len(token) <= LONGEST_TOKEN for token in found)


@pytest.mark.parametrize("length", [65, 200, 511, 512, 5000])
def test_encoded_bytes_are_one_token_at_most(length: int) -> None:
    assert len(tokens(base64ish(length).replace("/", "x").replace("+", "y"))) <= 1


def test_threads_do_not_share_a_stemmer() -> None:
    text = " ".join(f"running{i} relational conditional hopping meetings" for i in range(300))
    expected = tokens(text)
    results: list[bool] = []

    def run() -> None:
        results.append(all(tokens(text) == expected for _ in range(10)))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4


@pytest.mark.parametrize(
    "unit", ["a", "a-", "1,000,", ".", "Aa", "汉", "9", "in may ", "1/", "don't", "_", "\u0301", "5月"]
)
def test_half_a_million_characters_take_linear_time(unit: str) -> None:
    text = unit * (500_000 // len(unit))
    started = time.process_time()
    document_terms(text)
    assert time.process_time() - started < 5
