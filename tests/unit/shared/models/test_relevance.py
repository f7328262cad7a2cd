import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.models.relevance import THRESHOLD, LightReranker, relevance

NAMES = ["Alice", "Bob", "Carol", "Dave", "Erin", "Frank", "Grace", "Heidi"]
ROOMS = range(10, 30)
ZH = ["张伟", "王芳", "李娜", "刘洋", "陈静"]
SAME_SHAPE = [
    ("what is the wifi password of {}?", "The wifi password of {} is QP-4711.", NAMES),
    ("do you remember the locker code for room {}?", "Note: the locker code for room {} was changed.", ROOMS),
    ("how much was the {} lamp?", "I bought the {} lamp for 40 euros.", ["red", "blue", "green", "amber"]),
    ("{}的生日是什么时候？", "{}的生日是三月五号，请记住。", ZH),
]
CHATTER = [
    "The weather was lovely.",
    "Shall we meet at noon?",
    "今天天气不错。",
    "I fixed the build, all tests pass.",
]
ACKNOWLEDGEMENTS = [
    "thanks!",
    "ok, go on",
    "Thank you so much, that's perfect",
    "great, that sounds good. please continue",
    "谢谢",
    "好的，继续",
    "可以，没问题",
]


@pytest.mark.parametrize(("question", "fact", "subjects"), SAME_SHAPE)
def test_of_facts_of_one_shape_only_the_one_asked_for_answers(
    question: str, fact: str, subjects: list[object]
) -> None:
    texts = [fact.format(subject) for subject in subjects] + CHATTER
    for place, subject in enumerate(subjects):
        scores = relevance(question.format(subject), texts)
        others = scores[:place] + scores[place + 1 :]
        assert scores[place] >= THRESHOLD > max(others)


@pytest.mark.parametrize("text", ACKNOWLEDGEMENTS)
def test_an_acknowledgement_is_no_question(text: str) -> None:
    texts = [*ACKNOWLEDGEMENTS, *CHATTER, "ok so thanks to this we can go on to the next good thing"]
    assert max(relevance(text, texts)) == 0


def test_two_texts_are_enough_to_judge_by() -> None:
    answer, other = relevance("what is the cat called?", ["We named the cat Mochi.", "The invoice is due."])
    assert answer >= THRESHOLD > other


def test_a_question_of_one_rare_word_is_answered_by_the_text_that_has_it() -> None:
    scores = relevance("QN-200?", ["The pump QN-200 leaks.", *CHATTER])
    assert scores[0] >= THRESHOLD > max(scores[1:])


async def test_it_says_that_it_does_not_rank() -> None:
    assert not LightReranker.ranks
    reply = await LightReranker().score("t", "where is the key?", ["The key is under the mat.", "No."])
    assert (reply.threshold, len(reply.scores)) == (THRESHOLD, 2)
    assert (await LightReranker().score("t", "where is the key?", [])).scores == ()


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=8))
def test_scores_are_in_bounds_and_follow_their_texts(query: str, texts: list[str]) -> None:
    scores = relevance(query, texts)
    assert len(scores) == len(texts)
    assert all(0 <= score < 1 for score in scores)
    assert relevance(query, texts[::-1]) == scores[::-1]
