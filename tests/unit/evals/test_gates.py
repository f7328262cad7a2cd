"""Each gate fails a prompt that breaks it, and passes the same prompt whole."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.capture import Prompt, rendered
from evals.case import Case, Piece, Question
from evals.gates import BUDGET, FOREIGN, ORDER, PAIRS, Said, gate_of
from evals.judge import Judge
from shared.prompt.render import BLOCK_OPENING, CLOSING, PATCH_OPENING

OLD = (
    "The harbour office opens at seven.",
    "Granite weighs more than pumice.",
    "Kestrels hover over the dunes.",
)
NEW = ("What did you have for lunch?", "Soup, and bread with it.")
CASE = Case(
    "chat",
    [
        Piece(str(n), text, "user" if n % 2 == 0 else "assistant")
        for n, text in enumerate((*OLD, "Yes.", *NEW))
    ],
)
QUESTION = Question("q", "When does the office open?", frozenset({"0"}))


def message(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


def block(*texts: str, opening: str = BLOCK_OPENING) -> str:
    return f"{opening}--- turn 1 ---\n" + "".join(f"[user] {t}\n" for t in texts) + f"{CLOSING}\n\n"


def prompt_of(messages: list[dict[str, Any]], invalid: tuple[str, ...] = ()) -> Prompt:
    ids = rendered(messages)
    return Prompt(messages, [], len(ids), ids, list(invalid))


def usual(before: str = block(OLD[0], OLD[2])) -> list[dict[str, Any]]:
    asked = block(OLD[1], opening=PATCH_OPENING) + str(QUESTION.text)
    return [message("user", before + NEW[0]), message("assistant", NEW[1]), message("user", asked)]


def failed(
    messages: list[dict[str, Any]], *, allowed: int = 1000, question: Question = QUESTION
) -> list[str]:
    judge = Judge(CASE, "pieces")
    return [gate_of(f) for f in judge(question, 512, prompt_of(messages), 0.1, allowed).faults]


def test_a_good_prompt_fails_none() -> None:
    assert failed(usual()) == []


def test_a_prompt_above_the_budget_fails() -> None:
    tokens = prompt_of(usual()).tokens
    assert failed(usual(), allowed=tokens) == []
    assert failed(usual(), allowed=tokens - 1) == [BUDGET]


def test_excerpts_out_of_order_fail() -> None:
    assert failed(usual(block(OLD[2], OLD[0]))) == [ORDER]


def test_recent_messages_out_of_order_fail() -> None:
    first, second, last = usual()
    assert failed([second, first, last]) == [ORDER]


@pytest.mark.parametrize(
    "text", ["The harbour office opens at nine.", "As discussed:", OLD[0] + " " + OLD[1]]
)
def test_text_that_nobody_said_fails(text: str) -> None:
    assert failed(usual(block(text))) == [FOREIGN]
    assert failed([*usual()[:-1], message("user", f"{text}\n\n{QUESTION.text}")]) == [FOREIGN]


def test_what_was_said_after_the_question_is_foreign() -> None:
    early = Question("q", QUESTION.text, frozenset({"0"}), after=2)
    later = [message("user", block(OLD[0], OLD[2]) + str(QUESTION.text))]
    assert failed(later) == []
    assert failed(later, question=early) == [FOREIGN]


def test_a_cut_text_is_told_by_its_mark() -> None:
    cut = [
        message("user", f"[... 12 characters omitted ...]\n{OLD[0][12:]}"),
        message("user", str(QUESTION.text)),
    ]
    assert failed(cut) == []


def test_what_a_strict_template_refuses_fails() -> None:
    judge = Judge(CASE, "pieces")
    judged = judge(QUESTION, 512, prompt_of(usual(), ("a tool call is not answered",)), 0.1, 1000)
    assert [gate_of(fault) for fault in judged.faults] == [PAIRS]


def test_evidence_in_the_question_is_not_found() -> None:
    echo = Question("q", OLD[0], frozenset({"0"}))
    messages = [message("assistant", NEW[1]), message("user", OLD[0])]
    assert Judge(CASE, "pieces")(echo, 512, prompt_of(messages), 0.1, 1000).found == 0.0


def test_tool_calls_are_told_as_they_are_quoted() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "open", "arguments": '{"file": "a.py"}'}}
    said = Said([{"role": "assistant", "content": None, "tool_calls": [call]}])
    assert said.find('open({"file": "a.py"})', 0, said.end(None)) >= 0


@settings(deadline=None)
@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=12), st.data())
def test_any_part_of_a_history_in_its_order_is_found(texts: list[str], data: st.DataObject) -> None:
    said = Said([message("user", text) for text in texts])
    chosen = data.draw(st.lists(st.sampled_from(range(len(texts))), unique=True))
    at = 0
    for number in sorted(chosen):
        at = said.find(texts[number].replace("\0", " "), at, said.end(number + 1))
        assert at >= 0
