"""Streams: bytes as they come, comments while the index is awaited, errors as events once it has begun."""

import json

import pytest
from starlette.responses import JSONResponse

from services.gateway.http import converse
from tests.support.scripted_engine import CHAT, ScriptedEngine
from tests.support.stack import Stack
from tests.support.talk import LOCK_QUESTION, Message, talk, user


def body(messages: list[Message]) -> dict[str, object]:
    return {
        "model": "demo-extractive",
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_headers_usage_and_record_of_a_stream(stack: Stack) -> None:
    raw = await stack.sdk.chat.completions.with_raw_response.create(
        model="demo-extractive",
        messages=[*talk("hall"), user(LOCK_QUESTION)],
        stream=True,
        stream_options={"include_usage": True},
        extra_headers={"X-Session-Id": "a-talk"},
    )
    assert raw.headers["x-backscroll-mode"] == "assembled"
    assert raw.headers["x-backscroll-session"] == "a-talk"
    assert "x-backscroll-degraded" not in raw.headers
    chunks = [chunk async for chunk in raw.parse()]
    assert "9174" in "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    usage = chunks[-1].usage
    assert usage is not None
    record = await stack.record(raw.headers["x-backscroll-record"])
    assert (record["session"], record["status"]) == ("a-talk", 200)
    assert record["usage"]["prompt_tokens"] == usage.prompt_tokens
    assert 0 < record["first_token_s"] < 20
    assert record["prompt"]["stream"] is True


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converse, "COMMENT_EVERY_S", 0.1)


@pytest.mark.usefixtures("impatient")
async def test_comments_while_the_index_is_awaited(stack: Stack) -> None:
    await stack.stop("chunker")
    messages = [*talk("hall"), user(LOCK_QUESTION)]
    async with stack.http.stream("POST", "/v1/chat/completions", json=body(messages)) as reply:
        assert reply.status_code == 200
        assert reply.headers["x-backscroll-mode"] == "assembled"
        record_id = reply.headers["x-backscroll-record"]
        lines = reply.aiter_lines()
        comments = [await anext(lines) for _ in range(6)]
        assert [line for line in comments if line] == [comments[0]] * 3
        assert comments[0].startswith(": ")
        await stack.start("chunker")
        rest = [line async for line in lines if line.startswith("data: ")]
    assert rest[-1] == "data: [DONE]"
    told = [json.loads(line.removeprefix("data: ")) for line in rest[:-1]]
    assert "9174" in "".join(c["delta"].get("content") or "" for t in told for c in t["choices"])
    assert told[-1]["usage"]["prompt_tokens"] > 0
    assert (await stack.record(record_id))["id"] == record_id


@pytest.mark.usefixtures("impatient")
async def test_an_error_after_the_comments_is_an_event(stack: Stack, engine: ScriptedEngine) -> None:
    refusal = {
        "error": {"message": "no such template", "type": "BadRequestError", "param": None, "code": 400}
    }
    engine.faults[CHAT] = JSONResponse(refusal, 400)
    await stack.stop("chunker")
    messages = [*talk("hall"), user(LOCK_QUESTION)]
    async with stack.http.stream("POST", "/v1/chat/completions", json=body(messages)) as reply:
        lines = reply.aiter_lines()
        assert (await anext(lines)).startswith(": ")
        await stack.start("chunker")
        (event,) = [line async for line in lines if line.startswith("data: ")]
    assert json.loads(event.removeprefix("data: "))["error"]["message"] == "no such template"
