from collections import Counter
from random import Random

import pytest

from backscroll.demo.conversation import Conversation, count_tokens, demo_conversation
from backscroll.demo.facts import FACTS, NEVER_SAID
from backscroll.engine import validate_messages
from backscroll.engine.reader import NOT_FOUND, Reader
from backscroll.engine.reader.sentences import sentences

WINDOW = 8192
SAID = {fact.said for fact in FACTS}


@pytest.fixture(scope="module")
def conversation() -> Conversation:
    return demo_conversation(WINDOW)


def texts(conversation: Conversation) -> list[str]:
    return [message["content"] for message in conversation.messages]


def test_is_twelve_windows_long_and_the_same_every_time(conversation: Conversation) -> None:
    assert count_tokens(conversation.messages) >= 12 * WINDOW
    assert demo_conversation(WINDOW) == conversation
    assert demo_conversation(WINDOW, seed=8) != conversation


@pytest.mark.parametrize("window", [2048, 20_000])
def test_other_windows(window: int) -> None:
    other = demo_conversation(window)
    assert count_tokens(other.messages) >= 12 * window
    assert set(texts(other)) >= SAID


def test_is_a_valid_conversation_that_never_repeats_itself(conversation: Conversation) -> None:
    assert validate_messages(conversation.messages) == []
    said = Counter(s for text in texts(conversation) for s in sentences(text))
    assert [s for s, times in said.items() if times > 1] == []
    chinese = sum(any("\u4e00" <= c <= "\u9fff" for c in text) for text in texts(conversation))
    assert 0.25 < chinese / len(conversation.messages) < 0.6


def test_facts_lie_before_the_last_two_windows(conversation: Conversation) -> None:
    places = [i for i, text in enumerate(texts(conversation)) if text in SAID]
    assert len(places) == len(FACTS) >= 14
    assert count_tokens(conversation.messages[places[-1] :]) > 2 * WINDOW


def test_every_answer_stands_in_its_fact_alone(conversation: Conversation) -> None:
    for fact in FACTS:
        for part in fact.question.expected:
            holders = [text for text in texts(conversation) if part in text]
            assert fact.said in holders
            assert len(holders) == 1 or part.isdigit() or part.startswith("week")


def test_asks_where_a_client_would(conversation: Conversation) -> None:
    lengths = conversation.asked_at
    assert lengths == tuple(sorted(set(lengths)))
    assert {conversation.messages[n - 1]["role"] for n in lengths} == {"user"}
    assert count_tokens(conversation.messages[: lengths[0]]) < WINDOW
    assert count_tokens(conversation.messages[: lengths[-1]]) > 11 * WINDOW


def test_the_reader_answers_with_the_facts_and_only_with_them(conversation: Conversation) -> None:
    reader = Reader()
    without = [m for m in conversation.messages if m["content"] not in SAID]
    for question in conversation.questions:
        asked = {"role": "user", "content": question.text}
        answer = reader.answer([*conversation.messages, asked])
        assert all(part in answer for part in question.expected), question.text
        assert reader.answer([*without, asked]) in NOT_FOUND.values(), question.text


def test_some_questions_have_no_answer(conversation: Conversation) -> None:
    assert set(NEVER_SAID) <= set(conversation.questions)
    assert len(conversation.questions) == len(FACTS) + len(NEVER_SAID)


@pytest.mark.parametrize("size", [4, 40, 160])
def test_the_reader_judges_small_prompts_too(conversation: Conversation, size: int) -> None:
    random = Random(size)
    filler = [m for m in conversation.messages if m["content"] not in SAID]
    for fact in FACTS:
        others = [f.said for f in random.sample(FACTS, 4) if f != fact]
        around = [*random.sample(filler, size), *({"role": "user", "content": said} for said in others)]
        asked = {"role": "user", "content": fact.question.text}
        answer = Reader().answer([{"role": "user", "content": fact.said}, *around, asked])
        assert all(part in answer for part in fact.question.expected), fact
        assert Reader().answer([*around, asked]) in NOT_FOUND.values(), fact
