import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.cut import head_to, sentence_window, sentences, tail_from
from shared.text.opaque import opaque_runs
from shared.text.terms import tokens
from tests.support.texts import DATA_URI, base64ish, boundaries, texts


def inside_opaque(text: str, at: int) -> bool:
    return any(start < at < end for start, end in opaque_runs(text))


@given(texts(), st.integers(0, 400))
def test_a_tail_is_bounded_and_starts_between_graphemes(text: str, max_chars: int) -> None:
    at = tail_from(text, max_chars)
    assert 0 <= len(text) - at <= max_chars or at == 0
    assert len(text) - at <= max_chars
    assert at in boundaries(text)
    assert not inside_opaque(text, at)


@given(texts(), st.integers(0, 400))
def test_a_head_is_bounded_and_ends_between_graphemes(text: str, max_chars: int) -> None:
    at = head_to(text, max_chars)
    assert 0 <= at <= max_chars
    assert at in boundaries(text)
    assert not inside_opaque(text, at)


@given(texts(), st.integers(1, 200), st.lists(texts(2), max_size=2))
def test_a_window_is_bounded_and_between_graphemes(text: str, max_chars: int, query: list[str]) -> None:
    start, end = sentence_window(text, set(tokens(" ".join(query))), max_chars)
    assert 0 <= start <= end <= len(text)
    assert end - start <= max_chars
    assert {start, end} <= boundaries(text)
    assert not inside_opaque(text, start)
    assert not inside_opaque(text, end)


@given(texts())
def test_sentences_are_the_text(text: str) -> None:
    found = sentences(text)
    assert "".join(text[a:b] for a, b in found) == text
    assert all(a < b for a, b in found)
    assert {a for a, _ in found} <= boundaries(text) | {0}
    assert not any(inside_opaque(text, a) for a, _ in found)


def test_a_tail_starts_at_a_line() -> None:
    log = "".join(f"line {i} retry=2\n" for i in range(200))
    for max_chars in range(40, 400, 11):
        tail = log[tail_from(log, max_chars) :]
        assert tail.startswith("line ")
        assert len(tail) > max_chars - 20


def test_a_head_ends_at_a_line() -> None:
    log = "".join(f"line {i} retry=2\n" for i in range(200))
    for max_chars in range(40, 400, 11):
        assert log[: head_to(log, max_chars)].endswith("\n")


def test_without_lines_a_tail_starts_at_a_sentence_then_at_a_word() -> None:
    said = "This is said. That is said too. " * 10
    assert said[tail_from(said, 60) :].startswith(("This", "That"))
    words = "word " * 100
    assert words[tail_from(words, 48) :] == "word " * 9
    assert len("汉" * 100) - tail_from("汉" * 100, 30) == 30


@pytest.mark.parametrize("blob", [DATA_URI, base64ish(900)])
def test_an_image_stays_whole_or_goes(blob: str) -> None:
    before = f"see {blob} the end"
    assert before[tail_from(before, len(" the end") + 5) :] == " the end"
    assert before[: head_to(before, 20)] == "see "
    assert tail_from(blob, 30) == len(blob)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One. ", "Two! ", "Three?"]),
        ("See e.g. this. And Mr. Smith, i.e. him.", ["See e.g. this. ", "And Mr. Smith, i.e. him."]),
        ("It is 3.14 or v2.3. Then more.", ["It is 3.14 or v2.3. ", "Then more."]),
        ('He said "No!" and left. "Why?" She asked.', ['He said "No!" and left. ', '"Why?" ', "She asked."]),
        ("1. first\n2. second\n- third", ["1. first\n", "2. second\n", "- third"]),
        ("他说：「好！」她走了。", ["他说：「好！」", "她走了。"]),
        ("一；二；三", ["一；", "二；", "三"]),
        ("等等……然后呢？", ["等等……", "然后呢？"]),
        ("“真的吗？”他问。", ["“真的吗？”", "他问。"]),
        ("one\r\n\r\ntwo\nthree", ["one\r\n\r\n", "two\n", "three"]),
        ("file a.py and b.c are here", ["file a.py and b.c are here"]),
        ("**Bold.** Then plain.", ["**Bold.** ", "Then plain."]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    assert [text[a:b] for a, b in sentences(text)] == expected


def window(text: str, query: str, max_chars: int) -> str:
    start, end = sentence_window(text, set(tokens(query)), max_chars)
    return text[start:end]


def test_a_window_is_where_the_query_is_densest() -> None:
    filler = "Nothing of note was said here. " * 20
    text = filler + "Budget talk. " + filler + "The budget of the Lisbon office is 400. " + filler
    found = window(text, "What is the budget of the Lisbon office?", 120)
    assert "The budget of the Lisbon office is 400." in found
    assert found.startswith("Nothing")
    assert found.endswith("here. ")


def test_a_window_joins_neighbouring_answers() -> None:
    text = (
        "Filler here. " * 20 + "The code is 1234. It opens the safe. The safe is red. " + "Filler here. " * 20
    )
    assert "The code is 1234. It opens the safe. The safe is red." in window(text, "code safe red", 60)


def test_a_window_without_a_hit_is_the_head() -> None:
    text = "First. Second. Third. Fourth."
    assert window(text, "nothing", 15) == "First. Second. "


def test_a_window_in_chinese() -> None:
    text = "今天天气很好。" * 20 + "会议改到了星期五下午三点。" + "我们去吃饭吧。" * 20
    assert "会议改到了星期五下午三点。" in window(text, "会议什么时候？", 40)
