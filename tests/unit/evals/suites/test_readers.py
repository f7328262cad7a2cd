"""Every reader on a few lines of the shape that it reads."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from evals.suites import agents, beam, chained, locomo, madial, memdaily


def write(file: Path, value: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if file.suffix == ".gz":
        with gzip.open(file, "wt", encoding="utf-8") as out:
            out.write(text)
    else:
        file.write_text(text, encoding="utf-8")


def lines(*values: Any) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


@pytest.mark.parametrize("audited", [True, False])
def test_locomo(tmp_path: Path, audited: bool) -> None:
    def turn(number: int, speaker: str, text: str, **more: str) -> dict[str, str]:
        return {"dia_id": f"D1:{number}", "speaker": speaker, "text": text, **more}

    chat = {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_1_date_time": "8 May",
            "session_1": [turn(1, "Ann", "Hello"), turn(2, "Ben", "Look", blip_caption="a boat")],
        },
        "qa": [
            {"question": "Who?", "evidence": ["D:1:01"], "category": 4},
            {"question": "What?", "evidence": ["D9:9"], "category": 1},
        ],
    }
    write(tmp_path / "locomo" / "locomo10.json", [chat])
    corrected = {"question_id": "locomo_0_qa0", "correct_evidence": ["D1:1; D1:02"]}
    write(tmp_path / "locomo" / "audit_errors.json", [corrected])
    (case,) = locomo.load(tmp_path, audited)
    assert [(p.role, p.text) for p in case.pieces] == [
        ("user", "[8 May] Ann: Hello"),
        ("assistant", "Ben: Look [image: a boat]"),
    ]
    # Evidence that is not in the chat leaves a question that cannot be judged.
    (question,) = case.questions
    assert question.evidence == ({"D1:1", "D1:2"} if audited else {"D1:1"})
    assert question.kind == "single-hop"


def test_beam(tmp_path: Path) -> None:
    turns = [[{"id": 0, "role": "user", "content": "a"}, {"id": 1, "role": "assistant", "content": "b"}]]
    write(tmp_path / "beam" / "100K" / "3.chat.json.gz", [{"turns": turns}])
    asked = {
        "summary": [
            {"question": "q", "source_chat_ids": {"first": [0, [1]], "second": [7]}},
            {"question": "r"},
        ]
    }
    write(tmp_path / "beam" / "100K" / "3.probing_questions.json", asked)
    (case,) = beam.load(tmp_path, "100K")
    assert [(p.id, p.role) for p in case.pieces] == [("0", "user"), ("1", "assistant")]
    (question,) = case.questions
    assert (question.evidence, question.kind) == ({"0", "1"}, "summary")


def memdaily_file(folder: Path, name: str, count: int, question: str = "几点？") -> None:
    told = [
        {
            "tid": tid,
            "message_list": [{"mid": m, "message": f"{name}{tid}说{m}"} for m in range(3)],
            "question_list": [{"question": question, "answer": "一点", "target_step_id": [0, 2]}],
        }
        for tid in range(count)
    ]
    write(folder / "memdaily" / "messages_and_QAs" / f"{name}.json.gz", told)


def test_memdaily(tmp_path: Path) -> None:
    memdaily_file(tmp_path, "01_simple_roles", 2)
    memdaily_file(tmp_path, "06_noisy_items", 1)
    memdaily_file(tmp_path, "03_comparative_roles", 1, question="[ERRORQ]")
    cases = list(memdaily.load(tmp_path, size=500))
    assert [(case.name, case.questions[0].kind) for case in cases] == [
        ("01_simple_roles-0", "simple"),
        ("06_noisy_items-0", "noisy"),
        ("01_simple_roles-1", "simple"),
    ]
    first = cases[0]
    assert first.questions[0].evidence == {"01_simple_roles-0-0", "01_simple_roles-0-2"}
    assert [p.id for p in first.pieces[:4]] == [*(f"01_simple_roles-0-{n}" for n in range(3)), "B0"]
    assert [p.text for p in first.pieces[3:]] == [p.text for p in cases[1].pieces[3:]]


def test_memdaily_joined(tmp_path: Path) -> None:
    memdaily_file(tmp_path, "01_simple_roles", 3)
    big, small = memdaily.joined(tmp_path, together=2)
    assert (len(big.pieces), len(big.questions)) == (6, 2)
    assert (len(small.pieces), len(small.questions)) == (3, 1)
    assert big.questions[1].evidence <= {piece.id for piece in big.pieces}


def test_madial(tmp_path: Path) -> None:
    def memory(user: int, event: str) -> dict[str, Any]:
        return {"time": "2024-01-01", "scene": "活动", "event": event, "user-id": user}

    folder = tmp_path / "madial_bench" / "ch"
    write(
        folder / "MADial-Bench-zh-memory.json",
        lines({"1": memory(1, "跳舞")}, {"2": memory(2, "游泳")}, {"3": memory(1, "唱歌")}),
    )
    said = {"dialogue": ["<BOD>", "甲", "乙", "丙", "丁"], "test-turn": [3], "user-id": 1}
    relevant = (said | {"relevant-id": [1, 2, 3]}, said | {"relevant-id": [2]})
    other = said | {"user-id": 2, "relevant-id": [2]}
    write(folder / "MADial-Bench-zh-dialogue.json", lines(*relevant, other))
    one, two = madial.load(tmp_path)
    assert [p.text for p in one.pieces] == ["2024-01-01 活动 跳舞", "2024-01-01 活动 唱歌"]
    # Another user's memory is no evidence, and a dialogue with no other evidence is no question.
    assert [(q.text, q.evidence) for q in one.questions] == [("甲乙", {"1", "3"})]
    assert [q.id for q in two.questions] == ["zh-2"]


def call(command: str) -> dict[str, Any]:
    function = {"name": "bash", "arguments": json.dumps({"command_line": command})}
    return {
        "role": "assistant",
        "content": "Next.",
        "tool_calls": [{"id": "c", "type": "function", "function": function}],
    }


def result(text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "c", "content": text}


def test_agents(tmp_path: Path) -> None:
    far = "x " * (agents.NEWEST_CHARS // 2)
    messages = [
        {"role": "system", "content": "Work in /srv/known_place."},
        {"role": "user", "content": "Fix issue_4711."},
        call("ls /opt/first_dir"),
        result("/opt/first_dir/found_once.py and twice_named.py"),
        call("cat twice_named.py"),
        result(far),
        call("vim /opt/first_dir/found_once.py twice_named.py issue_4711 /srv/known_place never_seen.py"),
        result("done"),
    ]
    write(tmp_path / agents.FILES["tau-bench"], lines({"messages": messages}))
    (case,) = agents.load(tmp_path, "tau-bench")
    assert case.messages() == messages
    found = {next(iter(q.evidence)): (q.kind, q.after, q.text) for q in case.questions}
    assert found == {
        "opt/first_dir/found_once.py": (agents.ONE, 6, None),
        "twice_named.py": (agents.SEVERAL, 6, None),
        "issue_4711": (agents.ONE, 6, None),
    }
    (only,) = agents.load(tmp_path, "tau-bench", (agents.ONE,))
    assert {q.kind for q in only.questions} == {agents.ONE}
    (short,) = agents.load(tmp_path, "tau-bench", longer_than=3 * agents.NEWEST_CHARS)
    assert not short.questions
    assert case.asked(case.questions[0]) == messages[:6]


def test_what_the_newest_messages_hold_is_no_evidence(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Fix issue_4711."},
        call("ls -la"),
        result("x " * (agents.NEWEST_CHARS // 2 - 10)),
        call("cat issue_4711"),
        result("y " * 100),
        call("vim issue_4711"),
    ]
    write(tmp_path / agents.FILES["tau-bench"], lines({"messages": messages}))
    (case,) = agents.load(tmp_path, "tau-bench")
    assert [q.after for q in case.questions] == [3]


def test_arguments_that_are_no_json_are_read_as_they_stand() -> None:
    message = call("")
    message["tool_calls"][0]["function"]["arguments"] = "{broken some_name"
    assert agents.strings(message) == {"some_name"}


def test_stories_of_babi() -> None:
    told = [
        "1 Mary went to the attic.",
        "2 John took the ball.",
        "3 Where is Mary? \tattic\t1",
        "4 John went to the hall.",
        "5 Where is the ball? \thall\t2 4",
        "1 Ann slept.",
        "2 Who slept? \tAnn\t1",
    ]
    first, second, third = chained.stories(told)
    assert (first.question, first.supporting, len(first.facts)) == ("Where is Mary?", {"F1"}, 2)
    assert (second.supporting, [name for name, _ in second.facts]) == ({"F2", "F4"}, ["F1", "F2", "F4"])
    assert third.facts == (("F1", "Ann slept."),)


def test_babi_in_a_history(tmp_path: Path) -> None:
    for task in chained.TASKS:
        write(tmp_path / "babi" / "en" / f"{task}_test.txt", "1 Mary left.\n2 Who left? \tMary\t1\n")
    cases = list(chained.load(tmp_path, size=400, cases=5))
    assert [case.questions[0].kind for case in cases] == list(chained.HOPS)
    assert all({p.id for p in case.pieces} >= case.questions[0].evidence for case in cases)
