"""Who says a text, and whom a question names."""

import pytest

from services.retriever.speaker import favoured, named, speaker


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Maria: I moved to Lyon.", "maria"),
        ("[8 May 2023, 1:56 pm] Maria: I moved.", "maria"),
        ("Anna Karlsson: Hello", "anna karlsson"),
        ("小明：我搬家了。", "小明"),
        ("I moved to Lyon.", ""),
        ("http://example.org", ""),
        ("12:30 lunch", ""),
        ("", ""),
    ],
)
def test_the_speaker_is_what_the_text_begins_with(text: str, name: str) -> None:
    assert speaker(text) == name


def test_a_question_may_name_whoever_is_written_with_a_capital() -> None:
    assert named("When did Maria move with José?") == {"when", "maria", "josé"}
    assert named("which port?") == frozenset()


def test_what_the_named_one_says_is_favoured_unless_all_of_it_is() -> None:
    texts = ["Maria: I moved.", "Tom: Where to?", "Maria Lopez: Lyon.", "no speaker"]
    assert favoured(texts, frozenset({"maria"})).tolist() == [True, False, True, False]
    assert not favoured(texts[:1], frozenset({"maria"})).any()
    assert favoured([], frozenset({"maria"})).tolist() == []
