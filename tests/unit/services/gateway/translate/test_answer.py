"""Whole answers and refusals of a chat engine, as the official SDKs read them."""

from typing import Any

import anthropic
import openai
import orjson
import pytest

from services.gateway.translate.reply import for_chat, translated
from services.gateway.translate.translation import Translation
from services.gateway.upstream.engine import Reply
from services.gateway.upstream.overflow import parse_overflow
from shared.errors import EngineUnavailable
from tests.support.chat_stream import USAGE
from tests.support.told import anthropic_client, openai_client

ASKED = {
    "anthropic": {"model": "m", "max_tokens": 9, "stop_sequences": ["END"], "messages": []},
    "responses": {"model": "m", "input": "hi", "temperature": 0.5, "metadata": {"a": "b"}},
}
CALL = {"id": "a", "type": "function", "function": {"name": "find", "arguments": '{"q":"x"}'}}
TOO_LONG = (
    "This model's maximum context length is 4096 tokens. However, your prompt contains 5000 input tokens"
)


def translation(dialect: str) -> Translation:
    return Translation(dialect, orjson.dumps(ASKED[dialect]))


def answered(message: dict[str, Any], reason: str = "stop", **choice: Any) -> bytes:
    told = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason, **choice}
    return orjson.dumps(
        {"id": "chatcmpl-7", "created": 1700, "model": "m", "choices": [told], "usage": USAGE}
    )


def message_of(raw: bytes) -> anthropic.types.Message:
    with anthropic_client(translation("anthropic").answer(200, raw)) as client:
        return client.messages.create(model="m", max_tokens=9, messages=[])


def response_of(raw: bytes) -> Any:
    with openai_client(translation("responses").answer(200, raw)) as client:
        return client.responses.create(model="m", input="hi")


def test_anthropic_message() -> None:
    raw = answered({"content": "I look.", "reasoning": "Hm.", "tool_calls": [CALL]}, "tool_calls")
    message = message_of(raw)
    assert [b.type for b in message.content] == ["thinking", "text", "tool_use"]
    assert message.content[2].to_dict() == {
        "type": "tool_use",
        "id": "a",
        "name": "find",
        "input": {"q": "x"},
    }
    assert (message.id, message.role, message.model, message.stop_reason) == (
        "msg_7",
        "assistant",
        "m",
        "tool_use",
    )
    assert message.usage.to_dict() == {
        "input_tokens": 2,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 48,
        "output_tokens": 7,
    }


def test_response() -> None:
    raw = answered({"content": "I look.", "reasoning_content": "Hm.", "tool_calls": [CALL]}, "tool_calls")
    response = response_of(raw)
    assert [item.type for item in response.output] == ["reasoning", "message", "function_call"]
    call = response.output[2]
    assert (call.call_id, call.name, call.arguments, call.status) == ("a", "find", '{"q":"x"}', "completed")
    assert (response.output_text, response.status, response.created_at) == ("I look.", "completed", 1700)
    assert (response.temperature, response.metadata) == (0.5, {"a": "b"})
    assert response.usage.total_tokens == 57
    assert len({item.id for item in response.output}) == 3


@pytest.mark.parametrize(
    ("reason", "choice", "stop_reason", "status"),
    [
        ("stop", {}, "end_turn", "completed"),
        ("length", {}, "max_tokens", "incomplete"),
        ("content_filter", {}, "refusal", "incomplete"),
        ("stop", {"stop_reason": "END"}, "stop_sequence", "completed"),
        ("stop", {"stop_reason": 151645}, "end_turn", "completed"),
    ],
)
def test_why_it_ended(reason: str, choice: dict[str, Any], stop_reason: str, status: str) -> None:
    raw = answered({"content": "x"}, reason, **choice)
    assert message_of(raw).stop_reason == stop_reason
    assert response_of(raw).status == status


def test_arguments_that_are_no_object_reach_the_tool() -> None:
    broken = {**CALL, "function": {"name": "find", "arguments": '{"q":'}}
    message = message_of(answered({"content": None, "tool_calls": [broken]}, "tool_calls"))
    assert message.content[0].to_dict()["input"] == {"arguments": '{"q":'}


def test_an_answer_without_usage_or_words() -> None:
    raw = orjson.dumps({"choices": [{"message": {"content": ""}}]})
    assert message_of(raw).content == []
    assert response_of(raw).output == []


@pytest.mark.parametrize("raw", [b"<html>", b"[]", b"{}", b'{"choices":[]}', b'{"choices":[{"text":"x"}]}'])
def test_what_is_no_chat_completion_is_told(raw: bytes) -> None:
    with pytest.raises(EngineUnavailable, match="no chat completion"):
        translation("anthropic").answer(200, raw)


@pytest.mark.parametrize(
    "raw",
    [
        orjson.dumps({"error": {"message": TOO_LONG, "type": "BadRequestError", "code": 400}}),
        orjson.dumps({"object": "error", "message": TOO_LONG, "code": 400}),
        orjson.dumps({"message": TOO_LONG}),
        orjson.dumps({"detail": TOO_LONG}),
        orjson.dumps({"error": TOO_LONG}),
        TOO_LONG.encode(),
    ],
)
def test_a_refusal_keeps_its_status_and_words(raw: bytes) -> None:
    told = translation("anthropic").answer(400, raw)
    with anthropic_client(told, status=400) as client, pytest.raises(anthropic.BadRequestError, match="4096"):
        client.messages.create(model="m", max_tokens=9, messages=[])
    overflow = parse_overflow(told)
    assert overflow is not None
    assert overflow.window == 4096
    told = translation("responses").answer(429, raw)
    with openai_client(told, status=429) as client, pytest.raises(openai.RateLimitError, match="4096"):
        client.responses.create(model="m", input="hi")


async def test_a_reply_is_told_with_headers_that_fit() -> None:
    async def body() -> Any:
        raw = answered({"content": "Sunday"})
        yield raw[:50]
        yield raw[50:]

    async def close() -> None: ...

    headers = [("content-type", "application/json"), ("content-length", "9"), ("x-request-id", "r")]
    reply = translated(Reply(200, headers, body(), close), translation("anthropic"))
    assert sorted(reply.headers) == [("content-type", "application/json"), ("x-request-id", "r")]
    told = orjson.loads(b"".join([part async for part in reply.body]))
    assert told["content"] == [{"type": "text", "text": "Sunday"}]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ([("X-Api-Key", "k"), ("anthropic-version", "v")], [("authorization", "Bearer k")]),
        (
            [("authorization", "Bearer a"), ("x-api-key", "k"), ("x-other", "o")],
            [("authorization", "Bearer a"), ("x-other", "o")],
        ),
    ],
)
def test_a_key_goes_on_as_a_bearer_token(given: list[tuple[str, str]], sent: list[tuple[str, str]]) -> None:
    assert for_chat(given) == sent
