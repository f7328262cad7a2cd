"""Which requests are sent along a history."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from evals.capture import rendered
from evals.case import Case, Piece, Question
from evals.turns.script import EDITED, FAR, answered, pauses, replay, script, sizes

CALL = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
}
AGENT = Case(
    "agent",
    [
        Piece("0", "You help.", "system"),
        Piece("1", "List it."),
        Piece("2", "", "assistant", CALL),
        Piece("3", "a b", "tool", {"role": "tool", "tool_call_id": "1", "content": "a b"}),
        Piece("4", "There are two.", "assistant"),
        Piece("5", "And?"),
    ],
    [Question("q", None, frozenset({"a b"}), after=4)],
)


def chat(turns: int, words: int = 20) -> Case:
    pieces = []
    for n in range(turns):
        pieces += [
            Piece(f"u{n}", f"question {n} " * words),
            Piece(f"a{n}", f"answer {n} " * words, "assistant"),
        ]
    questions = [Question(f"q{n}", f"What was {n}?", frozenset({f"u{n}"})) for n in range(turns)]
    return Case("chat", pieces, questions)


def test_sizes_are_those_of_the_prompts() -> None:
    for case in (AGENT, chat(3)):
        assert sizes(case) == [len(rendered(case.messages(n))) for n in range(len(case.pieces) + 1)]


def test_a_client_asks_where_the_assistant_has_the_word() -> None:
    assert answered(AGENT) == [2, 4, 6]
    assert answered(chat(3)) == [1, 3, 5]


def test_a_question_is_asked_where_the_user_has_the_word() -> None:
    assert pauses(AGENT) == [5]
    assert pauses(chat(3)) == [2, 4, 6]


def test_a_step_of_an_agent_is_judged_as_it_stands() -> None:
    steps = script(AGENT, window=10, seed=1)
    assert [(step.length, step.kind, len(step.questions)) for step in steps] == [
        (2, "turn", 0),
        (4, "turn", 1),
        (6, "turn", 0),
    ]
    assert steps[1].messages(AGENT) == AGENT.messages(4)


@settings(deadline=None)
@given(st.integers(0, 50), st.sampled_from([100, 400, 900]))
def test_questions_are_asked_once_far_behind_their_evidence(seed: int, window: int) -> None:
    case = chat(12)
    whole = sizes(case)
    steps = script(case, window, seed)
    assert steps == script(case, window, seed)
    assert [step.length for step in steps] == sorted(step.length for step in steps)
    forks = [step for step in steps if step.kind == "question"]
    asked = [question.id for step in forks for question in step.questions]
    assert sorted(asked) == sorted(question.id for question in case.questions)
    number = {piece.id: n for n, piece in enumerate(case.pieces, start=1)}
    for step in forks:
        said = whole[max(number[name] for name in step.questions[0].evidence)]
        at_the_end = step.length == len(case.pieces)
        assert at_the_end or (whole[step.length] - said >= FAR * window and whole[step.length] > window)
        asks = {"role": "user", "content": step.questions[0].text}
        assert step.messages(case) == [*case.messages(step.length), asks]


def test_what_is_far_below_the_window_is_not_sent() -> None:
    case = chat(12)
    whole = sizes(case)
    assert all(whole[step.length] >= 200 for step in script(case, window=400, seed=1))


def test_a_replay_sends_some_requests_again_and_edits_some() -> None:
    case = chat(40)
    window = 400
    whole = sizes(case)
    every = replay(case, window, seed=1, share=0.3)
    assert every == replay(case, window, seed=1, share=0.3)
    steps = script(case, window, seed=1)
    assert [step for step in every if step.kind in ("turn", "question")] == steps
    added = [step for step in every if step.kind in ("retry", "edit")]
    for kind in ("retry", "edit"):
        assert 3 <= sum(step.kind == kind for step in added) <= 20
    assert all(whole[step.length] > window for step in added)
    edit = next(step for step in every if step.kind == "edit")
    history = case.messages(edit.length)
    changed = edit.messages(case)
    assert changed[:-1] == history[:-1]
    assert changed[-1] == history[-1] | {"content": history[-1]["content"] + EDITED}
    before, retry = next(pair for pair in pairwise(every) if pair[1].kind == "retry")
    assert retry.messages(case) == before.messages(case)


def test_a_history_that_fits_is_not_replayed() -> None:
    assert replay(chat(3), window=10_000, seed=1, share=0.3) == []
