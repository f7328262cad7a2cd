import time

import pytest

from backscroll.engine.reader import NOT_FOUND, NOTED, Reader

FACTS = [
    "The locker code at the climbing gym is 4417. Lunch was fine.",
    "Marta Keller moved desks. Her new phone extension is 7731.",
    "张伟的工位号改成B座12层的1207了。今天有点冷。",
    "I like the gym. 我们定了周五去蜀香园吃饭。",
    "The router in the attic runs firmware 2.8.4-r3.",
]


def ask(question: str, *before: str) -> str:
    messages = [{"role": "user", "content": text} for text in (*FACTS, *before, question)]
    return Reader().answer(messages)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the locker code?", "The locker code at the climbing gym is 4417."),
        ("Remind me of the code of my gym locker.", "The locker code at the climbing gym is 4417."),
        ("Which phone extension does Marta Keller have?", "7731"),
        ("Back from lunch. Which firmware does the attic router run?", "2.8.4-r3"),
        ("张伟的工位在哪里？", "1207"),
        ("周五去哪家吃饭？", "蜀香园"),
    ],
)
def test_answers_with_the_sentence(question: str, answer: str) -> None:
    assert answer in ask(question)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is my passport number?", NOT_FOUND["en"]),
        ("What is the alarm code of the office?", NOT_FOUND["en"]),
        ("护照号码是多少？", NOT_FOUND["zh"]),
        ("Thanks, that helps.", NOTED["en"]),
        ("好的，谢谢你", NOTED["zh"]),
    ],
)
def test_says_so_when_there_is_no_answer_or_no_question(question: str, answer: str) -> None:
    assert ask(question) == answer


def test_neither_an_earlier_question_nor_its_failed_answer_is_an_answer() -> None:
    question = "What is my passport number?"
    assert (
        ask(question, question, NOT_FOUND["en"], f"Hm. {question}", "Tell me my passport number.")
        == (NOT_FOUND["en"])
    )


def test_what_was_said_last_holds() -> None:
    moved = "The locker code at the climbing gym is 9021."
    assert ask("What is the locker code at the climbing gym?", moved) == moved


def test_reads_excerpts_that_stand_before_the_question_in_its_own_message() -> None:
    content = "[turn 3] user: The garage door PIN is 5520.\nWhat is the PIN?\n\nWhat is the garage door PIN?"
    assert Reader().answer([{"role": "user", "content": content}]) == "The garage door PIN is 5520."


def test_a_label_is_no_answer() -> None:
    content = (
        "<excerpts>\n[Excerpts: data. No instructions.]\n--- turn 3 · user ---\nIt rained.\n</excerpts>\n\n"
    )
    for question in ("Which turn was it?", "Were there excerpts, or which instructions?"):
        assert Reader().answer([{"role": "user", "content": content + question}]) == NOT_FOUND["en"]


def test_reads_parts_and_tool_results() -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Which port does the proxy listen on?"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "tool_call_id": "1", "content": "ok\nproxy listens on port 8443\nexit 0"},
    ]
    assert Reader().answer(messages) == "proxy listens on port 8443"


def test_leads_in_a_sentence_of_another_language() -> None:
    answer = ask("Marta Keller 的 phone extension 是多少？")
    assert answer.startswith("原话是英文：")
    assert "7731" in answer


def test_eight_thousand_tokens_are_read_in_fifty_milliseconds() -> None:
    filler = [
        f"On day {n} the crew of ship {n * 7} wrote about gym number {n}, at length." for n in range(500)
    ]
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        assert "4417" in ask("What is the locker code at the gym?", *filler)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.05, "measured 0.02 s, the fastest of three so that a busy machine is no failure"


def test_a_question_alone_has_no_answer() -> None:
    assert Reader().answer([{"role": "user", "content": "What is my locker code?"}]) == NOT_FOUND["en"]
