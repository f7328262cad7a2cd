"""An engine that refuses a prompt as too long: once more, smaller, however it says so."""

from typing import Any

import pytest

from shared.settings import Settings
from tests.support.gateway import Running
from tests.support.gateway import gateway as running
from tests.support.raw_engine import Line, RawEngine, Received

CHAT = "/v1/chat/completions"
WORDS = " ".join(f"word{n}" for n in range(40))
HISTORY = [{"role": "assistant" if n % 2 else "user", "content": f"{n}: {WORDS}"} for n in range(31)]
"""The last 13 fit 4,096 tokens, all of them do not."""
TOO_LONG = b"request (2600 tokens) exceeds the available context size (2500 tokens), try increasing it"
REFUSAL = b'{"error":{"code":400,"message":"' + TOO_LONG + b'"}}'
GOOD = b'data: {"choices":[{"index":0,"delta":{"content":"Good."}}]}\n\ndata: [DONE]\n\n'


def ask(stream: bool) -> dict[str, Any]:
    return {"model": "m", "stream": stream, "messages": HISTORY[-13:]}


def refusing(times: int, status: int, *chunks: bytes) -> Any:
    left = times

    async def script(_: Received, line: Line) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            await line.stream(GOOD)
        elif status == 200:
            await line.stream(*chunks)
        else:
            await line.whole(status, *chunks)

    return script


EVENTS = [
    [b"data: " + REFUSAL + b"\n\n"],
    [b'data: {"error":"', b"`inputs` must have less than 2500 tokens. Given: 2600", b'","x":1}\n\n'],
    [b"dat", b"a", b": ", *(REFUSAL[i : i + 1] for i in range(len(REFUSAL))), b"\n", b"\n"],
    [b"event: error\ndata: " + REFUSAL + b"\n\n", b"data: [DONE]\n\n"],
    [b"data: " + REFUSAL],
]


@pytest.mark.parametrize("chunks", EVENTS)
async def test_a_refusal_as_the_first_event_is_one(
    patient: Running, engine: RawEngine, chunks: list[bytes]
) -> None:
    engine.script = refusing(1, 200, *chunks)
    reply = await patient.http.post(CHAT, json=ask(stream=True))
    assert (reply.status_code, reply.content) == (200, GOOD)
    assert "engine_refused" in reply.headers["x-backscroll-degraded"]
    first, second = engine.received
    assert len(second.body) < len(first.body)


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_refusal_by_its_status(patient: Running, engine: RawEngine, status: int) -> None:
    engine.script = refusing(1, status, REFUSAL)
    reply = await patient.http.post(CHAT, json=ask(stream=True))
    assert (reply.status_code, reply.content) == (200, GOOD)
    assert len(engine.received) == 2


@pytest.mark.parametrize(
    "before",
    [b'data: {"choices":[{"delta":{"content":"I"}}]}\n\n', b": comment\n\n", b'data: {"err_or":1}\n\n'],
)
async def test_a_refusal_after_something_was_passed_on_is_passed_on_too(
    patient: Running, engine: RawEngine, before: bytes
) -> None:
    event = b"data: " + REFUSAL + b"\n\n"
    engine.script = refusing(1, 200, before, event)
    reply = await patient.http.post(CHAT, json=ask(stream=True))
    assert (reply.status_code, reply.content) == (200, before + event)
    assert len(engine.received) == 1


async def test_refused_twice_is_one_clear_error(patient: Running, engine: RawEngine) -> None:
    engine.script = refusing(9, 400, REFUSAL)
    reply = await patient.http.post(CHAT, json=ask(stream=True))
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "context_length_exceeded")
    assert len(engine.received) == 2


@pytest.mark.parametrize("status", [200, 400])
async def test_switched_off_the_refusal_is_passed_on(engine: RawEngine, status: int) -> None:
    body = b"data: " + REFUSAL + b"\n\n" if status == 200 else REFUSAL
    engine.script = refusing(9, status, body)
    async with running(Settings(engine_url=engine.url, max_context=4096, retry_on_overfit=False)) as gateway:
        reply = await gateway.http.post(CHAT, json=ask(stream=True))
    assert (reply.status_code, reply.content) == (status, body)
    assert len(engine.received) == 1


async def test_a_late_refusal_is_an_event(
    patient: Running, engine: RawEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.gateway.http.converse.COMMENT_EVERY_S", 0.05)
    patient.bus.assemble_s = 0.2
    engine.script = refusing(9, 401, b'{"error":{"message":"Who are you?"}}')
    stream = (await patient.http.post(CHAT, json=ask(stream=True) | {"messages": HISTORY})).content
    comment, *_, last = stream.split(b"\n\n")[:-1]
    assert comment.startswith(b": ")
    assert b"Who are you?" in last
    assert last.startswith(b"data: {")
