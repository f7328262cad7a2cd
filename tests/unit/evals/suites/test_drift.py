"""All questions of a history in one conversation."""

from evals.case import Case, Piece, Question
from evals.suites.drift import ANSWER, drifting
from evals.turns.script import script

CASE = Case(
    "c",
    [Piece("1", "Hello."), Piece("2", "Hello to you.", "assistant")],
    [Question(str(n), f"What is {n}?", frozenset({"1"}), "kind") for n in range(6)],
)


def test_each_question_and_its_answer_stay() -> None:
    drift = drifting(CASE, 1)
    added = drift.pieces[2:]
    assert sorted(piece.text for piece in added[::2]) == [f"What is {n}?" for n in range(6)]
    assert {(piece.role, piece.text) for piece in added[1::2]} == {("assistant", ANSWER)}
    for question in drift.questions:
        assert question.text is None
        assert question.after is not None
        assert drift.pieces[question.after - 1].text == f"What is {question.id}?"
        assert (question.evidence, question.kind) == ({"1"}, "kind")


def test_the_order_is_shuffled_by_the_seed() -> None:
    orders = [[question.id for question in drifting(CASE, seed).questions] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert orders[0] != sorted(orders[0])


def test_the_history_comes_in_one_request() -> None:
    steps = script(drifting(CASE, 1), window=10, seed=1)
    assert [step.length for step in steps] == [3, 5, 7, 9, 11, 13]
    assert all(step.kind == "turn" and len(step.questions) == 1 for step in steps)
