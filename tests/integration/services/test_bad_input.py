"""What a client does wrong is told in OpenAI's error shape, field by field, and never reaches the engine."""

from typing import Any

import openai
import pytest

from shared.settings import Settings
from tests.support.scripted_engine import ScriptedEngine
from tests.support.stack import Stack

MODEL = "demo-extractive"
ASKED = {"role": "user", "content": "Hello."}
CALL = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"max_body_bytes": 100_000})


def with_message(message: object) -> dict[str, Any]:
    return {"model": MODEL, "messages": [ASKED, message]}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"model": MODEL}, "messages"),
    ({"model": MODEL, "messages": []}, "messages"),
    ({"model": MODEL, "messages": None}, "messages"),
    ({"model": MODEL, "messages": "Hello."}, "messages"),
    ({"model": MODEL, "messages": {"role": "user"}}, "messages"),
    ({"messages": [ASKED]}, "model"),
    ({"model": 7, "messages": [ASKED]}, "model"),
    ({"model": MODEL, "messages": [ASKED], "max_tokens": "100"}, "max_tokens"),
    ({"model": MODEL, "messages": [ASKED], "max_tokens": 1.5}, "max_tokens"),
    ({"model": MODEL, "messages": [ASKED], "max_tokens": 0}, "max_tokens"),
    ({"model": MODEL, "messages": [ASKED], "max_tokens": True}, "max_tokens"),
    ({"model": MODEL, "messages": [ASKED], "max_completion_tokens": -1}, "max_completion_tokens"),
    (with_message("Hello."), "messages[1]"),
    (with_message(None), "messages[1]"),
    (with_message({"content": "no role"}), "messages[1].role"),
    (with_message({"role": "robot", "content": "x"}), "messages[1].role"),
    (with_message({"role": ["user"], "content": "x"}), "messages[1].role"),
    (with_message({"role": "user", "content": 7}), "messages[1].content"),
    (with_message({"role": "user", "content": ["x"]}), "messages[1].content[0]"),
    (with_message({"role": "user", "content": [{"type": "text"}]}), "messages[1].content[0].text"),
    (with_message({"role": "user", "name": 7, "content": "x"}), "messages[1].name"),
    (with_message({"role": "assistant", "tool_calls": "x"}), "messages[1].tool_calls"),
    (with_message({"role": "assistant", "tool_calls": ["x"]}), "messages[1].tool_calls[0]"),
    (with_message({"role": "assistant", "tool_calls": [{"id": "c"}]}), "messages[1].tool_calls[0].function"),
    (with_message({"role": "assistant", "tool_calls": [CALL | {"id": 7}]}), "messages[1].tool_calls[0].id"),
    (with_message({"role": "tool", "content": "x"}), "messages[1].tool_call_id"),
]


async def test_wrong_fields_are_named(stack: Stack, engine: ScriptedEngine) -> None:
    for body, field in REFUSED:
        reply = await stack.http.post("/v1/chat/completions", json=body)
        error = reply.json()["error"]
        assert (reply.status_code, error["param"]) == (400, field), body
        assert error["type"] == "invalid_request_error"
        assert f"'{field}" in error["message"]
    assert list(engine.engine.seen) == []


NO_OBJECT = (b"", b"{", b"null", b"[]", b'"text"', b"\xff\xfe", b'{"messages": [}', b"[" * 50_000)


async def test_what_is_no_json_object(stack: Stack) -> None:
    for raw in NO_OBJECT:
        reply = await stack.http.post("/v1/chat/completions", content=raw)
        error = reply.json()["error"]
        assert (reply.status_code, error["type"]) == (400, "invalid_request_error"), raw[:20]
        assert "JSON" in error["message"]


async def test_a_body_that_is_too_large(stack: Stack, settings: Settings) -> None:
    body = {"model": MODEL, "messages": [{"role": "user", "content": "x" * settings.max_body_bytes}]}
    reply = await stack.http.post("/v1/chat/completions", json=body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (413, "request_too_large")
    assert f"{settings.max_body_bytes} bytes" in reply.json()["error"]["message"]
    assert (await stack.http.get("/health/live")).status_code == 200


async def test_the_official_client_raises_bad_request(stack: Stack) -> None:
    with pytest.raises(openai.BadRequestError, match="max_tokens") as caught:
        await stack.sdk.chat.completions.create(model=MODEL, messages=[ASKED], max_tokens=0)
    assert caught.value.param == "max_tokens"
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError) as caught:
            await stack.sdk.chat.completions.create(
                model=MODEL,
                messages=[{"role": "robot", "content": "x"}],
                stream=stream,
            )
        assert caught.value.param == "messages[0].role"


async def test_what_cannot_fit_is_a_context_length_error(stack: Stack, engine: ScriptedEngine) -> None:
    head = {"role": "system", "content": "Obey rule number seven. " * 2000}
    with pytest.raises(openai.BadRequestError, match="maximum context length is 2048 tokens") as caught:
        await stack.sdk.chat.completions.create(model=MODEL, messages=[head, ASKED])
    assert caught.value.code == "context_length_exceeded"
    assert list(engine.engine.seen) == []


async def test_an_output_limit_under_its_old_name_beside_an_empty_new_one(
    stack: Stack, engine: ScriptedEngine
) -> None:
    """More output is asked for than the window has left: it is clamped, under whichever name."""
    for limits in ({"max_tokens": 2040, "max_completion_tokens": None}, {"max_tokens": 2040}):
        body = {"model": MODEL, "messages": [{"role": "user", "content": "word " * 200}], **limits}
        reply = await stack.http.post("/v1/chat/completions", json=body)
        assert reply.status_code == 200, reply.json()
    assert engine.engine.refusals == 0
