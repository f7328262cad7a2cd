"""The client that people use, sync and async, streamed and not, with tools and with errors."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest

from tests.support.gateway import Running
from tests.support.raw_engine import SSE, Line, RawEngine, Received

ASK: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "Wie ist das Wetter in Köln und Bonn?"}],
    "tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}],
}
CITIES = {0: '{"city": "Köln 🌧"}', 1: '{"city": "Bonn"}'}


def event(**fields: Any) -> bytes:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", **fields}
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def delta(**fields: Any) -> bytes:
    return event(choices=[{"index": 0, "delta": fields, "finish_reason": None}])


def tool_deltas() -> bytes:
    """Two calls, their arguments a character at a time and interleaved."""
    names = [
        {"index": i, "id": f"call_{i}", "function": {"name": "weather", "arguments": ""}} for i in CITIES
    ]
    stream = delta(role="assistant", reasoning_content="Two cities.") + delta(tool_calls=names)
    for position in range(max(map(len, CITIES.values()))):
        for index, text in CITIES.items():
            piece = {"index": index, "function": {"arguments": text[position : position + 1]}}
            stream += delta(tool_calls=[piece])
    stream += event(choices=[{"index": 0, "delta": {}, "finish_reason": "tool_calls"}])
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    return stream + event(choices=[], usage=usage) + b"data: [DONE]\n\n"


async def calls_tools(request: Received, line: Line) -> None:
    if request.json.get("stream"):
        data = tool_deltas()
        await line.stream(*(data[i : i + 97] for i in range(0, len(data), 97)))
        return
    calls = [
        {"id": f"call_{i}", "type": "function", "function": {"name": "weather", "arguments": text}}
        for i, text in CITIES.items()
    ]
    choice = {
        "index": 0,
        "message": {"role": "assistant", "tool_calls": calls},
        "finish_reason": "tool_calls",
    }
    answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    await line.whole(200, json.dumps(answer).encode())


@pytest.fixture
async def sdk(gateway: Running) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="k", max_retries=0) as client:
        yield client


class Gathered:
    def __init__(self) -> None:
        self.arguments: dict[int, str] = {}
        self.reasoning = ""
        self.prompt_tokens = 0

    def add(self, chunk: Any) -> None:
        if chunk.usage:
            self.prompt_tokens = chunk.usage.prompt_tokens
        for choice in chunk.choices:
            self.reasoning += getattr(choice.delta, "reasoning_content", None) or ""
            for call in choice.delta.tool_calls or []:
                known = self.arguments.get(call.index, "")
                self.arguments[call.index] = known + (call.function.arguments or "")


async def test_async_streamed_with_tools(sdk: openai.AsyncOpenAI, engine: RawEngine) -> None:
    engine.script = calls_tools
    gathered = Gathered()
    async for chunk in await sdk.chat.completions.create(**ASK, stream=True):
        gathered.add(chunk)
    assert gathered.arguments == CITIES
    assert (gathered.reasoning, gathered.prompt_tokens) == ("Two cities.", 9)
    assert engine.received[0].json == {**ASK, "stream": True}


async def test_async_by_the_stream_helper(sdk: openai.AsyncOpenAI, engine: RawEngine) -> None:
    engine.script = calls_tools
    async with sdk.chat.completions.stream(**ASK) as stream:
        completion = await stream.get_final_completion()
    calls = completion.choices[0].message.tool_calls or []
    assert [call.function.arguments for call in calls] == list(CITIES.values())


async def test_async_whole_with_tools(sdk: openai.AsyncOpenAI, engine: RawEngine) -> None:
    engine.script = calls_tools
    completion = await sdk.chat.completions.create(**ASK)
    calls: Any = completion.choices[0].message.tool_calls
    assert [call.function.arguments for call in calls] == list(CITIES.values())


async def test_sync_streamed_and_whole(gateway: Running, engine: RawEngine) -> None:
    engine.script = calls_tools

    def ask() -> Gathered:
        gathered = Gathered()
        with openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="k", max_retries=0) as client:
            for chunk in client.chat.completions.create(**ASK, stream=True):
                gathered.add(chunk)
            whole: Any = client.chat.completions.create(**ASK).choices[0].message.tool_calls
        assert [call.function.arguments for call in whole] == list(CITIES.values())
        return gathered

    assert (await asyncio.to_thread(ask)).arguments == CITIES


async def test_errors_are_raised_as_what_they_are(sdk: openai.AsyncOpenAI, engine: RawEngine) -> None:
    async def refuses(_: Received, line: Line) -> None:
        await line.whole(429, b'{"error":{"message":"slow down","code":"busy"}}')

    engine.script = refuses
    with pytest.raises(openai.RateLimitError, match="slow down"):
        await sdk.chat.completions.create(**ASK, stream=True)

    async def stalls(_: Received, line: Line) -> None:
        await line.head(200, SSE)
        await line.chunk(delta(content="a"))
        await engine.stall(line)

    engine.script = stalls
    with pytest.raises(openai.APIError) as raised:
        async for _ in await sdk.chat.completions.create(**ASK, stream=True):
            pass
    assert raised.value.code == "engine_timeout"
    with pytest.raises(openai.BadRequestError, match=r"messages\[0\]\.role"):
        await sdk.chat.completions.create(model="m", messages=[{"role": "nobody", "content": ""}])  # type: ignore[misc, list-item]


async def test_a_client_that_stops_reading_closes_the_engines_answer(
    patient: Running, engine: RawEngine
) -> None:
    async def talks(_: Received, line: Line) -> None:
        await line.head(200, SSE)
        await line.chunk(delta(content="a"))
        await engine.stall(line)

    engine.script = talks
    async with openai.AsyncOpenAI(base_url=f"{patient.url}/v1", api_key="k") as sdk:
        stream = await sdk.chat.completions.create(**ASK, stream=True)
        assert (await anext(aiter(stream))).choices[0].delta.content == "a"
        await stream.close()
        await asyncio.wait_for(engine.hung_up.wait(), 1)


async def test_responses_pass_whole_or_where_the_history_is_elsewhere(
    sdk: openai.AsyncOpenAI, engine: RawEngine
) -> None:
    async def answers(_: Received, line: Line) -> None:
        await line.whole(200, b'{"id":"r","object":"response","output":[]}')

    engine.script = answers
    for more in ({}, {"previous_response_id": "resp_1"}, {"conversation": "conv_1"}):
        raw: Any = await sdk.responses.with_raw_response.create(model="m", input="Hello.", **more)  # type: ignore[call-overload]
        assert raw.headers["x-backscroll-mode"] == "passthrough"
        assert raw.headers.get("x-backscroll-history") == ("engine" if more else None)
        assert engine.received[-1].json == {"model": "m", "input": "Hello.", **more}
