"""Suites that are made from a seed: alike in every process, and what they ask is in their history."""

import random
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.case import Case
from evals.suites import background, chained, needles, scattered, world
from evals.suites.made import paragraph
from evals.turns.script import sizes

Make = Callable[[int], Iterator[Case]]
SIZE = 3000
MAKERS: dict[str, Make] = {
    "needles": partial(needles.make, language="en", sizes=(SIZE,)),
    "needles, Chinese": partial(needles.make, language="zh", sizes=(SIZE,)),
    "scattered": partial(scattered.make, language="en", size=SIZE, cases=2),
    "scattered, Chinese": partial(scattered.make, language="zh", size=SIZE, cases=2),
    "chained": partial(chained.make, size=SIZE, cases=2),
}


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(background, "_read", lambda language: iter(()))
    background._set.cache_clear()
    yield
    background._set.cache_clear()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_seed_makes_the_same_cases(make: Make) -> None:
    assert list(make(1)) == list(make(1))
    assert list(make(1)) != list(make(2))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_evidence_is_in_the_history_and_no_text_comes_twice(make: Make) -> None:
    for case in make(3):
        ids = [piece.id for piece in case.pieces]
        assert len(set(ids)) == len(ids)
        told = [piece.text for piece in case.pieces if piece.role == "assistant"]
        assert len(set(told)) == len(told)
        for question in case.questions:
            assert question.evidence <= set(ids)
            assert question.text not in {piece.text for piece in case.pieces}
        assert SIZE <= sizes(case)[-1] <= 1.6 * SIZE


def test_needles_lie_at_their_depths() -> None:
    (case,) = MAKERS["needles"](1)
    count = len(case.pieces)
    at = [next(n for n, p in enumerate(case.pieces) if p.id == f"N{i}") / (count - 1) for i in range(5)]
    assert at == pytest.approx(needles.DEPTHS, abs=0.05)


def test_scattered_facts_differ_in_their_subject_alone() -> None:
    case = next(MAKERS["scattered"](1))
    facts = [piece.text for piece in case.pieces if piece.role == "user"]
    names = [question.text.split("project ")[1].split()[0] for question in case.questions if question.text]
    assert len(facts) == len(set(names)) == scattered.FACTS
    for question, name in zip(case.questions, names, strict=True):
        (evidence,) = question.evidence
        assert name in next(piece.text for piece in case.pieces if piece.id == evidence)


@given(st.integers(0, 10_000))
def test_a_story_answers_its_questions(seed: int) -> None:
    story = world.tell(random.Random(seed))
    (_, one), (_, two), (asked, three) = story.questions
    facts = story.facts
    where = {who: n for n, fact in enumerate(facts) for who in world.PEOPLE if _moves(fact, who)}
    assert one[0] in where.values()
    took, last = two
    who = facts[took].split()[0]
    assert last == where[who]
    assert any(thing in facts[took] for thing in world.THINGS)
    assert three[0] == took
    assert three[2] == last
    assert took < three[1] < last
    assert not any(_moves(fact, who) for fact in facts[three[1] + 1 : last])
    assert asked.rstrip("?").split()[-1] in facts[last]


def _moves(fact: str, who: str) -> bool:
    return fact.startswith(who) and any(f"the {room}." in fact for room in world.ROOMS)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_made_text_hardly_repeats_itself(language: str) -> None:
    rng = random.Random(1)
    texts = [paragraph(language, rng) for _ in range(500)]
    end = "." if language == "en" else "。"
    said = [sentence for text in texts for sentence in text.split(end) if sentence.strip()]
    assert len(set(texts)) == len(texts)
    assert len(set(said)) > 0.99 * len(said)


def test_a_longer_history_begins_with_the_paragraphs_of_a_shorter_one() -> None:
    """So that what one size embedded serves the next."""
    short, long = (set(background.background("en", size, 1)) for size in (2000, 4000))
    assert short < long
