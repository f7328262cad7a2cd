"""What a record tells of texts."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from services.gateway.dialects import chat
from services.gateway.http.told import BEGINNING, LISTED, QUESTION, candidates_told, question_of, summary_of
from tests.support.requests import request_of

RECORD: dict[str, Any] = dict.fromkeys(LISTED) | {
    "session": "港口",
    "layout": {"window_start": 4, "block": [1, 2], "patches": [3]},
    "inherited": {"tip": "aa", "length": 3},
    "usage": {"prompt_tokens": 9, "cached_tokens": 4, "completion_tokens": 2},
    "prefix": {"shared": 7},
}


@given(st.text())
def test_a_summary_is_a_header(question: str) -> None:
    summary = summary_of(RECORD, question)
    assert summary.isascii()
    assert summary.isprintable()
    told = json.loads(summary)
    assert (told["question"], told["session"]) == (question, "港口")
    assert (told["excerpts"], told["patches"], told["parent"], told["shared"]) == (2, 1, "aa", 7)


def test_a_first_request_inherits_nothing() -> None:
    told = json.loads(summary_of(RECORD | {"inherited": None, "prefix": None}, ""))
    assert (told["parent"], told["parent_length"], told["shared"]) == (None, None, None)


def test_the_question_is_what_the_user_said_last() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    request = request_of(
        [
            {"role": "user", "content": "First."},
            {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": "港" * 500},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "42"},
        ],
        chat,
    )
    assert question_of(request) == "港" * QUESTION
    assert question_of(request_of([{"role": "assistant", "content": "Hello"}], chat)) == ""


def test_a_candidate_is_told_with_the_beginning_of_its_text() -> None:
    request = request_of([{"role": "user", "content": "0123456789" * 100}], chat)
    rest = ("digest", 5, 1.0, 0.0, 1.0, 0.0, 1.0, "relevance")
    long, short, gone, old = candidates_told(
        request,
        [
            (0, 0, 0, 5, 900, *rest, 0.5, 1.0),
            (0, 0, 0, 5, 8, *rest, 0.5, 1.0),
            (0, 7, 0, 0, 8, *rest, 0.5, 1.0),
            (0, 0, 0, 0, 2, *rest),
        ],
    )
    assert long["text"] == ("0123456789" * 100)[5 : 5 + BEGINNING]
    assert (short["text"], short["recency"], short["why"]) == ("567", 0.5, "relevance")
    assert gone["text"] == ""
    assert "recency" not in old
