from evals.case import Case, Piece, Question
from evals.evidence import Evidence

LONG = "The harbour office opens at nine and closes at noon on Sundays."
PIECES = [Piece("a", LONG), Piece("b", "Nobody may moor at the eastern pier.")]


def test_a_piece_is_there_with_most_of_its_text() -> None:
    evidence = Evidence(Case("c", PIECES), "pieces")
    question = Question("q", "When?", frozenset({"a", "b"}))
    assert evidence.share(question, LONG[:-6]) == 0.5
    assert evidence.share(question, f"{LONG} {PIECES[1].text}") == 1.0


def test_a_string_is_there_as_it_is() -> None:
    evidence = Evidence(Case("c", PIECES), "strings")
    question = Question("q", "When?", frozenset({"opens at nine", LONG}))
    assert evidence.share(question, LONG[:-6]) == 0.5
