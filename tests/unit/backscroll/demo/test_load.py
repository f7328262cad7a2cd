import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from backscroll.demo.load import load_conversations
from backscroll.engine import validate_messages

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": "hello"},
    {"role": "user", "content": "how are you"},
]


def call(*ids: str) -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "bash", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls, "extra": {"cost": 1}}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok", "extra": {"time": 2}}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CHAT),
        json.dumps({"messages": CHAT}),
        json.dumps([{"messages": CHAT}]),
        json.dumps([CHAT]),
        json.dumps({"messages": CHAT}) + "\n",
        "\n".join(map(json.dumps, CHAT)),
    ],
)
def test_openai_messages_in_every_wrapping(tmp_path: Path, text: str) -> None:
    path = tmp_path / "chat.json"
    path.write_text(text)
    (conversation,) = load_conversations(path)
    assert conversation.messages == CHAT
    assert conversation.asked_at == (2, 4)


def test_a_line_is_a_conversation_and_gzip_is_read(tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join([json.dumps({"messages": CHAT})] * 2).encode()))
    assert [c.name for c in load_conversations(path)] == ["chats.jsonl.gz#0", "chats.jsonl.gz#1"]


def test_an_agents_run_asks_after_all_results_of_a_step(tmp_path: Path) -> None:
    messages = [*CHAT[:2], call("1", "2"), result("1"), result("2"), call("3"), result("3"), call("4")]
    path = tmp_path / "run.traj.json"
    path.write_text(
        json.dumps(
            {"instance_id": "run-7", "info": {}, "messages": [*messages, {"role": "exit", "content": ""}]}
        )
    )
    (conversation,) = load_conversations(path)
    assert conversation.name == "run-7"
    assert conversation.asked_at == (2, 5, 7)
    assert len(conversation.messages) == 7
    assert not any("extra" in message for message in conversation.messages)
    for length in conversation.asked_at:
        assert validate_messages(conversation.messages[:length]) == []


def test_locomo(tmp_path: Path) -> None:
    chat = {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        "session_10_date_time": "1 pm on 2 June, 2023",
        "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "Later."}],
        "session_2_date_time": "9 am on 1 May, 2023",
        "session_2": [
            {"speaker": "Ana", "dia_id": "D2:1", "text": "Look!", "blip_caption": "a red boat"},
            {"speaker": "Ben", "dia_id": "D2:2", "text": "Nice."},
        ],
    }
    asked = [{"question": "When?", "answer": 2022}, {"question": "Trick?", "adversarial_answer": "x"}]
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": "conv-1", "qa": asked, "conversation": chat}]))
    (conversation,) = load_conversations(path)
    assert [m["content"] for m in conversation.messages] == [
        "[9 am on 1 May, 2023] Ana: Look! [image: a red boat]",
        "Ben: Nice.",
        "[1 pm on 2 June, 2023] Ben: Later.",
    ]
    assert [m["role"] for m in conversation.messages] == ["user", "assistant", "assistant"]
    assert conversation.asked_at == (1,)
    assert [(q.text, q.reference, q.expected) for q in conversation.questions] == [("When?", "2022", ())]


@pytest.mark.parametrize(
    "text", ["[]", "3", "{}", "[1, 2]", '{"messages": []}', "no json", '{"messages": [1]}']
)
def test_anything_else_is_named_as_such(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="no conversation"):
        load_conversations(path)
