"""Every path under `/v1`, each in its dialect."""

import asyncio
import json
from typing import Any

import pytest

from tests.support.gateway import Running
from tests.support.raw_engine import SSE, Line, RawEngine, Received

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
HELLO = {"model": "m", "max_tokens": 16, "messages": [{"role": "user", "content": "Hello."}]}


async def echoes(request: Received, line: Line) -> None:
    told = {"method": request.method, "target": request.target, "length": len(request.body)}
    await line.whole(207, json.dumps(told).encode(), "application/json", "x-more: 1")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_unknown_paths_pass_with_method_query_and_body(
    patient: Running, engine: RawEngine, method: str
) -> None:
    engine.paths["/v1/files/a%2Fb/content"] = echoes
    body = bytes(range(256)) * 4096
    target = "/v1/files/a%2Fb/content?q=a%20b&q=%2B&empty="
    reply = await patient.http.request(method, target, content=body, headers={"content-type": "odd/type"})
    assert (reply.status_code, reply.headers["x-more"]) == (207, "1")
    assert reply.json() == {"method": method, "target": target, "length": len(body)}
    assert engine.received[0].body == body
    assert engine.received[0].header("content-type") == "odd/type"
    assert reply.headers["x-backscroll-mode"] == "passthrough"


@pytest.mark.parametrize("path", [CHAT, MESSAGES, "/v1/responses"])
async def test_a_slash_at_the_end_makes_no_other_path(patient: Running, engine: RawEngine, path: str) -> None:
    """Passed on as it is, an engine redirects the client to its own address."""
    engine.paths[path] = echoes
    body = HELLO | {"input": "Hello."}
    reply = await patient.http.post(f"{path}/", json=body)
    assert (reply.status_code, reply.json()["target"]) == (207, path)
    refused = await patient.http.post(f"{path}/", content=b"{")
    assert refused.status_code == 400
    assert ("type" in refused.json()) == (path == MESSAGES)


async def test_head_has_a_length_and_no_body(patient: Running, engine: RawEngine) -> None:
    async def script(_: Received, line: Line) -> None:
        await line.write(b"HTTP/1.1 200 OK\r\ncontent-type: a/b\r\ncontent-length: 77\r\n\r\n")

    engine.paths["/v1/files/1"] = script
    reply = await patient.http.head("/v1/files/1")
    assert (reply.status_code, reply.headers["content-length"], reply.content) == (200, "77", b"")


@pytest.mark.parametrize("path", [CHAT, "/v1/embeddings"])
async def test_headers_that_are_not_ascii_pass_both_ways(
    patient: Running, engine: RawEngine, path: str
) -> None:
    async def script(request: Received, line: Line) -> None:
        told = (request.header("x-user-name") or "").encode("latin-1").decode()
        await line.whole(200, b"{}", "application/json", f"x-greeting: Dobrý den, {told}")

    engine.paths[path] = script
    name = "Žofie 你好".encode()
    reply = await patient.http.post(path, json=HELLO, headers=[(b"x-user-name", name)])
    assert reply.status_code == 200
    greeting = next(value for key, value in reply.headers.raw if key == b"x-greeting")
    assert greeting == "Dobrý den, ".encode() + name


async def test_a_body_is_streamed_to_the_engine(patient: Running, engine: RawEngine) -> None:
    engine.paths["/v1/audio/transcriptions"] = echoes

    async def parts() -> Any:
        for _ in range(3):
            yield b"x" * 1000
            await asyncio.sleep(0.01)

    reply = await patient.http.post("/v1/audio/transcriptions", content=parts())
    assert reply.json()["length"] == 3000


async def test_streams_of_other_paths_pass(patient: Running, engine: RawEngine) -> None:
    first = asyncio.Event()

    async def script(_: Received, line: Line) -> None:
        await line.head(200, SSE)
        await line.chunk(b'data: {"text":"\xe4')
        await first.wait()
        await line.chunk(b'\xbd\xa0"}\n\ndata: [DONE]\n\n')
        await line.end()

    engine.paths["/v1/completions"] = script
    async with patient.http.stream("POST", "/v1/completions", json={"model": "m", "stream": True}) as reply:
        parts = reply.aiter_raw()
        assert await anext(parts) == b'data: {"text":"\xe4'
        first.set()
        assert b"".join([p async for p in parts]) == b'\xbd\xa0"}\n\ndata: [DONE]\n\n'


async def test_binary_answers_keep_their_length_and_encoding(patient: Running, engine: RawEngine) -> None:
    async def script(_: Received, line: Line) -> None:
        await line.whole(200, b"\x1f\x8b\x00", "audio/mpeg", "content-encoding: odd")

    engine.paths["/v1/audio/speech"] = script
    async with patient.http.stream("POST", "/v1/audio/speech", json={"model": "m"}) as reply:
        assert b"".join([p async for p in reply.aiter_raw()]) == b"\x1f\x8b\x00"
    assert (reply.headers["content-length"], reply.headers["content-encoding"]) == ("3", "odd")


@pytest.mark.parametrize(
    "path", ["/v1/../metrics", "/v1/%2e%2e/metrics", "/v1/a/..%2f..%2fmetrics", "/v1/x/."]
)
async def test_nothing_outside_of_v1_is_reached(patient: Running, engine: RawEngine, path: str) -> None:
    engine.paths["/metrics"] = echoes
    host, port = patient.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
    reply = await reader.read()
    writer.close()
    assert reply.startswith(b"HTTP/1.1 404")
    assert engine.received == []


@pytest.mark.parametrize("path", [CHAT, MESSAGES, "/v1/messages/count_tokens"])
async def test_our_errors_are_in_the_dialect_of_the_endpoint(patient: Running, path: str) -> None:
    reply = await patient.http.post(path, content=b"[1]")
    assert reply.status_code == 400
    error = reply.json()
    assert error["error"]["type"] == "invalid_request_error"
    assert (error.get("type") == "error") == (path != CHAT)


async def test_an_anthropic_stream_keeps_every_byte(patient: Running, engine: RawEngine) -> None:
    stream = (
        b'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":9}}}\n\n'
        b'event: ping\ndata: {"type": "ping"}\n\n'
        b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":'
        b'{"type":"thinking_delta","thinking":"\xe4\xbd\xa0"}}\n\n'
        b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    )

    async def script(_: Received, line: Line) -> None:
        await line.stream(*(stream[i : i + 7] for i in range(0, len(stream), 7)))

    engine.script = script
    reply = await patient.http.post(MESSAGES, json={**HELLO, "stream": True}, headers={"x-api-key": "k"})
    assert reply.content == stream
    assert engine.received[0].header("x-api-key") == "k"
    assert engine.received[0].header("authorization") is None


async def test_silence_in_an_anthropic_stream_is_an_error_of_its_kind(
    gateway: Running, engine: RawEngine
) -> None:
    async def script(_: Received, line: Line) -> None:
        await line.head(200, SSE)
        await line.chunk(b'event: ping\ndata: {"type": "ping"}\n\n')
        await engine.stall(line)

    engine.script = script
    stream = (await gateway.http.post(MESSAGES, json={**HELLO, "stream": True})).content
    event, data = stream.split(b"\n\n")[1].split(b"\n")
    assert event == b"event: error"
    assert json.loads(data.removeprefix(b"data: "))["error"]["type"] == "timeout_error"


async def test_counting_is_the_engines(patient: Running, engine: RawEngine) -> None:
    async def script(_: Received, line: Line) -> None:
        await line.whole(200, b'{"input_tokens":12,"odd":1}')

    engine.paths["/v1/messages/count_tokens"] = script
    reply = await patient.http.post("/v1/messages/count_tokens", json=HELLO)
    assert reply.content == b'{"input_tokens":12,"odd":1}'
    assert engine.received[0].json == HELLO


@pytest.mark.parametrize(
    "refusal", [b"", b'{"error":{"message":"prompt is too long: 5000 tokens > 4096 maximum"}}']
)
async def test_counting_is_ours_where_the_engine_cannot(
    patient: Running, engine: RawEngine, refusal: bytes
) -> None:
    async def script(_: Received, line: Line) -> None:
        await line.whole(400, refusal)

    if refusal:
        engine.paths["/v1/messages/count_tokens"] = script
    reply = await patient.http.post("/v1/messages/count_tokens", json=HELLO)
    assert reply.status_code == 200
    assert 3 <= reply.json()["input_tokens"] < 100


async def test_models_pass(patient: Running, engine: RawEngine) -> None:
    async def script(_: Received, line: Line) -> None:
        await line.whole(200, b'{"object":"list", "data":[]}')

    engine.paths["/v1/models"] = script
    assert (await patient.http.get("/v1/models")).content == b'{"object":"list", "data":[]}'
