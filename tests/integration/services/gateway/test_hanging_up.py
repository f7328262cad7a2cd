"""A client that hangs up: nobody works for it any longer."""

import asyncio
import json
from typing import Any

import pytest

from shared.settings import Settings
from tests.support.gateway import Running
from tests.support.gateway import gateway as running
from tests.support.raw_engine import SSE, Line, RawEngine, Received

CHAT = "/v1/chat/completions"
GONE = "backscroll_clients_gone_total"
DELTA = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
USAGE = b'data: {"choices":[],"usage":{"prompt_tokens":700,"completion_tokens":1}}\n\n'


def ask(**fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "Hello."}], **fields}


def long_history() -> list[dict[str, str]]:
    """Several times the window of 4,096 tokens."""
    words = " ".join(f"word{n}" for n in range(60))
    return [{"role": "assistant" if n % 2 else "user", "content": f"{n}: {words}"} for n in range(101)]


async def hang_up(
    gateway: Running, body: dict[str, Any], when: "asyncio.Event | float", path: str = CHAT
) -> None:
    request = asyncio.create_task(gateway.http.post(path, json=body))
    await (asyncio.sleep(when) if isinstance(when, float) else asyncio.wait_for(when.wait(), 5))
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request


async def counted_up(gateway: Running, name: str, before: float) -> None:
    async with asyncio.timeout(2):
        while await gateway.metric(name) <= before:
            pass


@pytest.mark.parametrize("path", [CHAT, "/v1/completions", "/v1/embeddings"])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("head", [False, True])
async def test_before_the_first_byte(
    patient: Running, engine: RawEngine, stream: bool, head: bool, path: str
) -> None:
    asked = asyncio.Event()

    async def script(_: Received, line: Line) -> None:
        if head:
            await line.head(200, SSE if stream else "application/json")
        asked.set()
        await engine.stall(line)

    engine.paths[path] = script
    before = await patient.metric(GONE)
    await hang_up(patient, ask(stream=stream), asked, path)
    await asyncio.wait_for(engine.hung_up.wait(), 1)
    await counted_up(patient, GONE, before)


@pytest.mark.parametrize("path", [CHAT, "/v1/completions"])
async def test_within_a_stream(patient: Running, engine: RawEngine, path: str) -> None:
    async def script(_: Received, line: Line) -> None:
        await line.head(200, SSE)
        await line.chunk(DELTA)
        await engine.stall(line)

    engine.paths[path] = script
    async with patient.http.stream("POST", path, json=ask(stream=True)) as reply:
        assert await anext(reply.aiter_raw()) == DELTA
    await asyncio.wait_for(engine.hung_up.wait(), 1)


async def test_while_the_engine_never_stops_talking(patient: Running, engine: RawEngine) -> None:
    async def script(_: Received, line: Line) -> None:
        await line.head(200, SSE)
        try:
            while True:
                await line.chunk(DELTA * 1000)
        finally:
            engine.hung_up.set()

    engine.script = script
    async with patient.http.stream("POST", CHAT, json=ask(stream=True)) as reply:
        await anext(reply.aiter_raw())
    await asyncio.wait_for(engine.hung_up.wait(), 2)


@pytest.mark.parametrize("stream", [False, True])
async def test_while_the_index_is_awaited(patient: Running, engine: RawEngine, stream: bool) -> None:
    patient.bus.assemble_s = 30
    before = await patient.metric(GONE)
    await hang_up(patient, ask(messages=long_history(), stream=stream), 0.3)
    await counted_up(patient, GONE, before)
    assert patient.bus.cancelled.is_set()
    assert engine.received == []


async def test_after_the_early_comments(patient: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.gateway.http.converse.COMMENT_EVERY_S", 0.05)
    patient.bus.assemble_s = 30
    body = ask(messages=long_history(), stream=True)
    async with patient.http.stream("POST", CHAT, json=body) as reply:
        assert (await anext(reply.aiter_raw())).startswith(b": ")
    await asyncio.wait_for(patient.bus.cancelled.wait(), 2)


async def test_what_was_told_before_is_recorded(engine: RawEngine) -> None:
    """SDKs hang up at `[DONE]`, before the engine ends its answer."""

    async def script(_: Received, line: Line) -> None:
        await line.head(200, SSE)
        await line.chunk(DELTA + USAGE + b"data: [DONE]\n\n")
        await engine.stall(line)

    engine.script = script
    async with running(Settings(engine_url=engine.url, max_context=4096)) as gateway:
        body = ask(messages=long_history(), stream=True)
        async with gateway.http.stream("POST", CHAT, json=body) as reply:
            await anext(reply.aiter_raw())
            record = reply.headers["x-backscroll-record"]
        await asyncio.wait_for(engine.hung_up.wait(), 1)
    found = next(e for e in gateway.bus.published if getattr(e, "record", None) == record)
    assert json.loads(found.body)["usage"]["prompt_tokens"] == 700  # type: ignore[attr-defined]


async def test_within_the_request(patient: Running, engine: RawEngine) -> None:
    async def endless() -> Any:
        yield b'{"model":"m","messages":['
        await asyncio.sleep(30)

    request = asyncio.create_task(patient.http.post(CHAT, content=endless()))
    await asyncio.sleep(0.2)
    before = await patient.metric(GONE)
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    await counted_up(patient, GONE, before)
    assert engine.received == []
    assert (await patient.http.get("/health/live")).status_code == 200
