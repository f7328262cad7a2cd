"""What a stream goes through between an engine and a client, byte by byte."""

import asyncio
import json
import time
from typing import Any

import pytest

from tests.support.gateway import Running
from tests.support.raw_engine import SSE, Line, RawEngine, Received

CHAT = "/v1/chat/completions"
ERRORS = 'backscroll_engine_stream_errors_total{engine="default"}'
DELTA = b'data: {"id":"1","choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n'
DONE = b"data: [DONE]\n\n"


def ask(**fields: Any) -> dict[str, Any]:
    return {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hello."}], **fields}


def says(*chunks: bytes) -> Any:
    async def script(_: Received, line: Line) -> None:
        await line.stream(*chunks)

    return script


async def read(gateway: Running, **fields: Any) -> tuple[int, bytes]:
    async with gateway.http.stream("POST", CHAT, json=ask(**fields)) as reply:
        return reply.status_code, b"".join([part async for part in reply.aiter_raw()])


def last_event(stream: bytes) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(stream.rstrip(b"\n").rpartition(b"data: ")[2])
    return event


async def test_what_passes_keeps_every_byte(gateway: Running, engine: RawEngine) -> None:
    stream = (
        b": keep-alive\n\n"
        b'data: {"choices":[{"index":0,"delta":{"reasoning":"Hm","reasoning_content":null}}]}\n\n'
        b'data:{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"a","function":{"name":"f",'
        b'"arguments":"{\\"q"}}]}}],  "unknown": [1, 2.50]}\r\n\r\n'
        b"event: odd\nid: 7\nretry: 10\ndata: \xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x87\xa9\xf0\x9f\x87\xaa\n\n"
        b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1}}\n\n' + DONE
    )
    # One byte at a time, so that every character and every event is split.
    engine.script = says(*(stream[i : i + 1] for i in range(len(stream))))
    assert await read(gateway) == (200, stream)


async def test_the_body_is_forwarded_as_it_came(gateway: Running, engine: RawEngine) -> None:
    engine.script = says(DELTA % b"a", DONE)
    raw = b'{"stream" :true, "messages":[{"content":"\\u00e9", "role":"user"}],"odd":1e2,"model":"m"}'
    await gateway.http.post(CHAT, content=raw)
    assert engine.received[0].body == raw


async def test_the_first_byte_is_not_held_back(gateway: Running, engine: RawEngine) -> None:
    go_on = asyncio.Event()

    async def script(_: Received, line: Line) -> None:
        await line.head(200, SSE)
        await line.chunk(b'data: {"ch')
        await go_on.wait()
        await line.chunk(b'oices":[]}\n\n')
        await line.end()

    engine.script = script
    async with gateway.http.stream("POST", CHAT, json=ask()) as reply:
        parts = reply.aiter_raw()
        assert await anext(parts) == b'data: {"ch'
        go_on.set()
        assert b"".join([part async for part in parts]) == b'oices":[]}\n\n'


async def test_an_early_error_keeps_status_body_and_headers(gateway: Running, engine: RawEngine) -> None:
    body = b'{"object":"error","message":"no","odd":1.0}'
    for status in (400, 401, 404, 422, 429, 500, 503):

        async def script(_: Received, line: Line, status: int = status) -> None:
            await line.whole(status, body, "application/json", "retry-after: 7")

        engine.script = script
        reply = await gateway.http.post(CHAT, json=ask())
        assert (reply.status_code, reply.content, reply.headers["retry-after"]) == (status, body, "7")


ERROR_EVENTS = [
    b'data: {"error": {"message": "out of memory", "code": 500}}\n\n',
    b'data: {"object": "error", "message": "out of memory"}\n\n',
    b'event:error\ndata:{"error":"out of memory","error_type":"generation"}\n\n',
    b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n',
    b'data: {"type":"response.failed","response":{"status":"failed","error":{"message":"x"}}}\n\n',
]


@pytest.mark.parametrize("before", [b"", DELTA % b"Hel"])
@pytest.mark.parametrize("after", [b"", DONE])
async def test_an_error_under_200_is_passed_on_and_counted(
    gateway: Running, engine: RawEngine, before: bytes, after: bytes
) -> None:
    for event in ERROR_EVENTS:
        counted = await gateway.metric(ERRORS)
        engine.script = says(*(chunk for chunk in (before, event[:9], event[9:], after) if chunk))
        assert await read(gateway) == (200, before + event + after)
        assert await gateway.metric(ERRORS) == counted + 1, event


async def test_talk_of_errors_is_no_error(gateway: Running, engine: RawEngine) -> None:
    counted = await gateway.metric(ERRORS)
    stream = b'data: {"error":null,"choices":[{"delta":{"content":"data: {\\"error\\":1}"}}]}\n\n' + DONE
    engine.script = says(stream)
    assert await read(gateway) == (200, stream)
    assert await gateway.metric(ERRORS) == counted


async def test_silence_within_an_answer_ends_in_an_error_event(gateway: Running, engine: RawEngine) -> None:
    async def script(_: Received, line: Line) -> None:
        await line.head(200, SSE)
        await line.chunk(DELTA % b"a")
        await line.chunk(DELTA % b"b")
        await engine.stall(line)

    engine.script = script
    counted = await gateway.metric(ERRORS)
    started = time.perf_counter()
    status, stream = await read(gateway)
    assert 0.3 <= time.perf_counter() - started < 1.2
    assert status == 200
    assert stream.startswith(DELTA % b"a" + DELTA % b"b" + b"data: ")
    assert last_event(stream)["error"]["code"] == "engine_timeout"
    await asyncio.wait_for(engine.hung_up.wait(), 1)
    assert await gateway.metric(ERRORS) == counted + 1


async def test_an_answer_without_end_ends_in_an_error_event(gateway: Running, engine: RawEngine) -> None:
    async def script(_: Received, line: Line) -> None:
        await line.head(200, SSE)
        while True:
            await line.chunk(DELTA % b"a")
            await asyncio.sleep(0.1)

    engine.script = script
    started = time.perf_counter()
    _, stream = await read(gateway)
    assert 1.5 <= time.perf_counter() - started < 3
    assert last_event(stream)["error"]["code"] == "engine_timeout"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("head", [False, True])
async def test_silence_before_the_first_byte_is_a_504(
    gateway: Running, engine: RawEngine, stream: bool, head: bool
) -> None:
    async def script(_: Received, line: Line) -> None:
        if head:
            await line.head(200, SSE if stream else "application/json")
        await engine.stall(line)

    engine.script = script
    reply = await gateway.http.post(CHAT, json=ask(stream=stream))
    assert reply.status_code == 504
    assert reply.json()["error"]["code"] == "engine_timeout"
    await asyncio.wait_for(engine.hung_up.wait(), 1)


async def test_an_engine_that_breaks_off_ends_in_an_error_event(gateway: Running, engine: RawEngine) -> None:
    async def script(_: Received, line: Line) -> None:
        await line.head(200, SSE)
        await line.chunk(DELTA % b"a" + b'data: {"cho')
        await line.break_off()

    engine.script = script
    status, stream = await read(gateway)
    assert status == 200
    assert stream.startswith(DELTA % b"a" + b'data: {"cho\n\ndata: ')
    assert last_event(stream)["error"]["code"] == "engine_unavailable"


async def test_a_whole_answer_that_breaks_off_is_a_502(gateway: Running, engine: RawEngine) -> None:
    async def script(_: Received, line: Line) -> None:
        await line.head(200, "application/json")
        await line.chunk(b'{"choices":[')
        await line.break_off()

    engine.script = script
    reply = await gateway.http.post(CHAT, json=ask(stream=False))
    assert reply.status_code == 502
    assert reply.json()["error"]["code"] == "engine_unavailable"


async def test_a_hundred_streams_at_once(patient: Running, engine: RawEngine) -> None:
    together = asyncio.Barrier(100)

    async def script(request: Received, line: Line) -> None:
        name = request.json["messages"][0]["content"].encode()
        await line.head(200, SSE)
        await line.chunk(DELTA % name)
        await together.wait()
        for _ in range(20):
            await line.chunk(DELTA % name)
        await line.end()

    engine.script = script

    async def one(n: int) -> bytes:
        return (await read(patient, messages=[{"role": "user", "content": f"Stream {n}"}]))[1]

    async with asyncio.timeout(20):
        streams = await asyncio.gather(*map(one, range(100)))
    assert streams == [DELTA % f"Stream {n}".encode() * 21 for n in range(100)]


async def test_headers_pass_but_for_those_of_a_hop_and_ours(gateway: Running, engine: RawEngine) -> None:
    async def script(_: Received, line: Line) -> None:
        more = ("x-request-id: 9", "set-cookie: a=1", "set-cookie: b=2", "keep-alive: timeout=5")
        hop = ("connection: keep-alive, X-Private", "x-private: 1", "x-backscroll-mode: liar")
        await line.whole(200, b'{"choices":[]}', "application/json", *more, *hop)

    engine.script = script
    sent = [
        ("x-custom", "1"),
        ("x-backscroll-anything", "1"),
        ("x-hop", "1"),
        ("connection", "x-hop"),
        ("te", "trailers"),
    ]
    reply = await gateway.http.post(CHAT, json=ask(stream=False), headers=sent)
    got = engine.received[0]
    assert got.header("x-custom") == "1"
    assert {"x-backscroll-anything", "x-hop", "te"}.isdisjoint(dict(got.headers))
    assert reply.headers["x-request-id"] == "9"
    assert reply.headers.get_list("set-cookie") == ["a=1", "b=2"]
    assert reply.headers.get_list("x-backscroll-mode") == ["passthrough"]
    assert {"keep-alive", "x-private"}.isdisjoint(reply.headers)


async def test_a_connection_to_the_engine_is_used_again(gateway: Running, engine: RawEngine) -> None:
    lines: set[Line] = set()

    async def script(_: Received, line: Line) -> None:
        lines.add(line)
        await line.stream(DELTA % b"a", DONE)

    engine.script = script
    for _ in range(5):
        await read(gateway)
    assert len(lines) == 1


async def test_an_engine_that_is_not_there_is_a_502(gateway: Running, engine: RawEngine) -> None:
    async def script(_: Received, line: Line) -> None:
        await line.break_off()

    engine.script = script
    reply = await gateway.http.post(CHAT, json=ask())
    assert (reply.status_code, reply.json()["error"]["code"]) == (502, "engine_unavailable")
