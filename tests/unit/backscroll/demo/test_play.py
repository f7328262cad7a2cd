"""The play against the engine itself: a wide window for what must work, a narrow one for what must fail."""

import io
import json
from typing import Any

import httpx
import pytest
from rich.console import Console

from backscroll.demo.conversation import Conversation
from backscroll.demo.facts import Question
from backscroll.demo.play import play
from backscroll.demo.result import DemoResult
from backscroll.engine import create_engine, engine_of

TALK = [
    {"role": "user", "content": "The locker code is 4417."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "It rained all day. " * 40},
    {"role": "assistant", "content": "I see."},
]
RIGHT = Question("What is the locker code?", ("4417",))
WRONG = Question("What is the locker code?", ("9999",))
SHOWN = Question("What is the locker code?", reference="four four one seven")


def talk(*questions: Question) -> Conversation:
    return Conversation("talk", TALK, (1, 3), questions)


async def played(conversation: Conversation, window: int = 4096, **more: Any) -> tuple[DemoResult, str]:
    output = io.StringIO()
    transport = httpx.ASGITransport(create_engine(window))
    async with httpx.AsyncClient(transport=transport) as http:
        console = Console(file=output, width=120)
        return await play("http://engine/v1", conversation, console, http=http, **more), output.getvalue()


async def test_right_answers_and_no_refusals_are_a_success() -> None:
    result, output = await played(talk(RIGHT, SHOWN))
    assert (result.exit_code, result.requests, result.right, len(result.judged)) == (0, 4, 1, 1)
    assert result.window == 4096
    assert result.answered[1].reply.cached_share > 0.5
    assert "The locker code is 4417." in output
    assert "four four one seven" in output
    assert "Answered      1 of 1" in output


async def test_a_wrong_answer_is_a_failure() -> None:
    result, _ = await played(talk(RIGHT, WRONG))
    assert (result.exit_code, result.right) == (1, 1)


async def test_a_refusal_is_a_failure_and_is_told() -> None:
    result, output = await played(talk(SHOWN), window=300)
    assert result.exit_code == 1
    assert [refused.status for refused in result.refused] == [400, 400]
    assert "maximum context length is 300 tokens" in output


async def test_questions_can_be_limited() -> None:
    result, _ = await played(talk(RIGHT, WRONG), questions=1)
    assert (result.exit_code, len(result.answered)) == (0, 1)


async def test_sends_what_a_client_would_send() -> None:
    app = create_engine(4096, keep_seen=10)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as http:
        await play("http://engine", talk(RIGHT, WRONG), Console(file=io.StringIO()), http=http)
    first, second, asked, again = (body["messages"] for body in engine_of(app).seen)
    assert (first, second) == (TALK[:1], TALK[:3])
    assert asked == [*TALK, {"role": "user", "content": RIGHT.text}]
    assert again[: len(asked)] == asked
    assert again[len(asked)] == {"role": "assistant", "content": "The locker code is 4417."}


def event(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


PIECE = event({"choices": [{"index": 0, "delta": {"content": "The code is 4417."}}]})


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (httpx.Response(200, content=PIECE + event({"error": {"message": "engine gone"}})), "engine gone"),
        (httpx.Response(200, content=b": wait\n\n" + PIECE), "without [DONE]"),
        (httpx.Response(502, content=b"<html>bad gateway"), "bad gateway"),
    ],
)
async def test_a_broken_answer_counts_as_refused(response: httpx.Response, error: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(404) if request.url.path.endswith("/models") else response

    asked = Conversation("broken", TALK, (), (RIGHT,))
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        result = await play("http://gateway", asked, Console(file=io.StringIO()), http=http)
    assert result.exit_code == 1
    assert error in result.refused[0].error


async def test_shows_what_backscroll_says_in_its_headers() -> None:
    headers = {"X-Backscroll-Mode": "assembled", "X-Backscroll-Degraded": "embed_unavailable"}

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/models"):
            return httpx.Response(404)
        return httpx.Response(200, headers=headers, content=b": wait\n\n" + PIECE + b"data: [DONE]\n\n")

    output = io.StringIO()
    asked = Conversation("headers", TALK, (), (RIGHT,))
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        result = await play("http://gateway", asked, Console(file=output, width=160), http=http, model="m")
    assert result.exit_code == 0
    assert result.modes == {"assembled": 1}
    assert "embed_unavailable" in output.getvalue()
