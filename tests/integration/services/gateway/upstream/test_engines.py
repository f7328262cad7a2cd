"""Several engines by model name, each with its key, its health and its breaker."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from services.gateway.upstream import breaker
from shared.errors import PermanentFault
from shared.settings import EngineSettings, Settings
from tests.support.gateway import Running
from tests.support.gateway import gateway as running
from tests.support.raw_engine import Line, RawEngine, Received, raw_engine

CHAT = "/v1/chat/completions"
ANSWER = b'{"choices":[],"usage":{"prompt_tokens":9}}'


async def answers(_: Received, line: Line) -> None:
    await line.whole(200, ANSWER)


def fails(status: int) -> Any:
    async def script(_: Received, line: Line) -> None:
        await line.whole(status, b'{"error":{"message":"no"}}')

    return script


async def breaks_off(_: Received, line: Line) -> None:
    await line.break_off()


def lists(*models: str) -> Any:
    async def script(_: Received, line: Line) -> None:
        cards = ",".join(f'{{"id":"{model}","odd":1}}' for model in models)
        await line.whole(200, f'{{"object":"list","data":[{cards}]}}'.encode())

    return script


def ask(model: str, **fields: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": "Hello."}], **fields}


@dataclass
class Fleet:
    gateway: Running
    exact: RawEngine
    pattern: RawEngine
    rest: RawEngine


@pytest.fixture
async def fleet(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Fleet]:
    monkeypatch.setenv("SECRET_OF_EXACT", "k-exact")
    async with AsyncExitStack() as stack:
        exact, pattern, rest = [await stack.enter_async_context(raw_engine()) for _ in range(3)]
        for engine in (exact, pattern, rest):
            engine.script = answers
        settings = Settings(
            engine_url=rest.url,
            engine_api_key="k-rest",
            engines=(
                EngineSettings(name="pattern", url=pattern.url, models=("qwen-*",)),
                EngineSettings(
                    name="exact", url=exact.url, models=("qwen-small",), api_key_env="SECRET_OF_EXACT"
                ),
            ),
        )
        assert "k-exact" not in repr(settings)
        assert "k-rest" not in repr(settings)
        gateway = await stack.enter_async_context(running(settings))
        yield Fleet(gateway, exact, pattern, rest)


@pytest.mark.parametrize(
    ("model", "name"), [("qwen-small", "exact"), ("qwen-large", "pattern"), ("other", "rest")]
)
@pytest.mark.parametrize("path", [CHAT, "/v1/embeddings", "/v1/messages"])
async def test_a_model_goes_to_its_engine(fleet: Fleet, model: str, name: str, path: str) -> None:
    engines = {"exact": fleet.exact, "pattern": fleet.pattern, "rest": fleet.rest}
    for engine in engines.values():
        engine.paths[path] = answers
    assert (await fleet.gateway.http.post(path, json=ask(model, max_tokens=9))).content == ANSWER
    assert [n for n, engine in engines.items() if engine.received] == [name]


async def test_a_form_names_its_model_too(fleet: Fleet) -> None:
    fleet.exact.paths["/v1/audio/transcriptions"] = answers
    files = {"file": ("a.wav", b"RIFF")}
    reply = await fleet.gateway.http.post(
        "/v1/audio/transcriptions", data={"model": "qwen-small"}, files=files
    )
    assert reply.content == ANSWER


async def test_a_form_that_looks_like_many_fields_holds_nobody_up(fleet: Fleet) -> None:
    fleet.rest.paths["/v1/files"] = answers
    started = time.process_time()
    reply = await fleet.gateway.http.post("/v1/files", content=b'name="model"\r\n' * 20_000)
    assert reply.content == ANSWER
    assert time.process_time() - started < 5


async def test_a_body_that_is_nested_too_deeply_to_be_read_goes_to_the_rest(fleet: Fleet) -> None:
    fleet.rest.paths["/v1/embeddings"] = answers
    deep = b'{"input":' + b"[" * 5000 + b"]" * 5000 + b"}"
    assert (await fleet.gateway.http.post("/v1/embeddings", content=deep)).content == ANSWER


async def test_an_engine_gets_its_own_key_unless_the_client_brings_one(fleet: Fleet) -> None:
    await fleet.gateway.http.post(CHAT, json=ask("qwen-small"))
    await fleet.gateway.http.post(CHAT, json=ask("qwen-large"))
    await fleet.gateway.http.post(CHAT, json=ask("other"))
    await fleet.gateway.http.post(CHAT, json=ask("other"), headers={"authorization": "Bearer mine"})
    sent = [[r.header("authorization") for r in e.received] for e in (fleet.exact, fleet.pattern, fleet.rest)]
    assert sent == [["Bearer k-exact"], [None], ["Bearer k-rest", "Bearer mine"]]


async def test_models_are_merged_each_from_the_engine_that_serves_it(fleet: Fleet) -> None:
    fleet.exact.paths["/v1/models"] = lists("qwen-small", "unreachable")
    fleet.pattern.paths["/v1/models"] = lists("qwen-small", "qwen-large")
    fleet.rest.paths["/v1/models"] = lists("other", "qwen-large")
    data = (await fleet.gateway.http.get("/v1/models")).json()["data"]
    assert sorted(card["id"] for card in data) == ["other", "qwen-large", "qwen-small"]
    fleet.rest.paths["/v1/models"] = fails(500)
    data = (await fleet.gateway.http.get("/v1/models")).json()["data"]
    assert sorted(card["id"] for card in data) == ["qwen-large", "qwen-small"]


async def test_a_model_that_no_engine_serves(fleet: Fleet) -> None:
    only = Settings(engines=(EngineSettings(name="one", url=fleet.exact.url, models=("a",)),))
    async with running(only) as gateway:
        reply = await gateway.http.post(CHAT, json=ask("b"))
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "model_not_found")


@pytest.mark.parametrize("script", [fails(500), fails(502), breaks_off])
async def test_an_engine_that_keeps_failing_is_left_alone(
    fleet: Fleet, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    http = fleet.gateway.http
    fleet.pattern.script = script
    opened = 'backscroll_engine_opened_total{engine="pattern"}'
    before = await fleet.gateway.metric(opened)
    for _ in range(breaker.FAILURES):
        assert (await http.post(CHAT, json=ask("qwen-large"))).status_code in (500, 502)
    asked = len(fleet.pattern.received)
    for path, kind in ((CHAT, "api_error"), ("/v1/messages", "overloaded_error")):
        reply = await http.post(path, json=ask("qwen-large", max_tokens=9, stream=True))
        assert reply.status_code == 503
        assert 1 <= int(reply.headers["retry-after"]) <= breaker.DELAY_S
        assert reply.json()["error"]["type"] == kind
    assert len(fleet.pattern.received) == asked
    assert await fleet.gateway.metric(opened) == before + 1
    ready = await http.get("/health/ready")
    assert ready.status_code == 200
    assert ready.json()["engines"] == {"pattern": "failing", "exact": "ok", "default": "ok"}
    # The others are served.
    assert (await http.post(CHAT, json=ask("qwen-small"))).status_code == 200


async def test_it_is_tried_again(engine: RawEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaker, "DELAY_S", 0.2)
    engine.script = fails(503)
    async with running(Settings(engine_url=engine.url)) as gateway:

        async def status() -> int:
            return (await gateway.http.post(CHAT, json=ask("m"))).status_code

        for _ in range(breaker.FAILURES):
            assert await status() == 503
        await asyncio.sleep(0.25)
        # One tries; the others are told at once.
        asked = len(engine.received)
        assert await asyncio.gather(*(status() for _ in range(5))) == [503] * 5
        assert len(engine.received) == asked + 1
        await asyncio.sleep(0.25)
        engine.script = answers
        assert await status() == 200
        assert await asyncio.gather(*(status() for _ in range(5))) == [200] * 5


@pytest.mark.parametrize("status", [400, 404, 429, 501])
async def test_what_is_the_clients_fault_opens_nothing(engine: RawEngine, status: int) -> None:
    engine.script = fails(status)
    async with running(Settings(engine_url=engine.url)) as gateway:
        for _ in range(breaker.FAILURES + 1):
            assert (await gateway.http.post(CHAT, json=ask("m"))).status_code == status


async def test_a_client_that_hangs_up_opens_nothing(engine: RawEngine) -> None:
    async def script(_: Received, line: Line) -> None:
        await engine.stall(line)

    engine.script = script
    async with running(Settings(engine_url=engine.url)) as gateway:
        for _ in range(breaker.FAILURES + 1):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await gateway.http.post(CHAT, json=ask("m"))
        engine.script = answers
        assert (await gateway.http.post(CHAT, json=ask("m"))).status_code == 200


@pytest.mark.parametrize(
    ("engines", "said"),
    [
        ((), "needs an engine"),
        (
            (EngineSettings(name="a", url="http://x/v1"), EngineSettings(name="a", url="http://y/v1")),
            "same name",
        ),
        ((EngineSettings(name="a", url="http://x/v1", api_key_env="NOT_THERE"),), "NOT_THERE is not set"),
    ],
)
async def test_settings_that_cannot_work_are_refused_at_start(
    engines: tuple[EngineSettings, ...], said: str
) -> None:
    with pytest.raises(PermanentFault, match=said):
        async with running(Settings(engines=engines)):
            pass


def test_engines_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "BACKSCROLL_ENGINES", '[{"name":"a","url":"http://x/v1","models":["m"],"context":8192}]'
    )
    assert Settings().engines == (EngineSettings(name="a", url="http://x/v1", models=("m",), context=8192),)
