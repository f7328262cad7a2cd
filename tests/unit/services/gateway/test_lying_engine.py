"""Engines that lie, truncate and refuse at odd limits, behind the real gateway."""

import json
import random
import string
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from services.gateway.upstream.overflow import parse_overflow
from shared.settings import Settings
from tests.support.gateway import gateway
from tests.support.lying_engine import AT_THE_WINDOW, REFUSALS, WITH_ANSWER, LyingEngine
from tests.support.served import served

CASES = 200
BELIEVED = 32_768
Message = dict[str, Any]


class Place:
    """Where the engine of a case stands; one socket serves them all."""

    def __init__(self) -> None:
        self.engine = LyingEngine(2048)
        self.url = ""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.engine(scope, receive, send)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    here = Place()
    with served(here) as url:  # type: ignore[arg-type]
        here.url = f"{url}/v1"
        yield here


def made_of(rng: random.Random, characters: int) -> str:
    kind = rng.choice(["english", "chinese", "hex", "emoji", "code"])
    if kind == "english":
        words = ["river", "the", "storage", "of", "unremarkable", "a", "window", "price"]
        text = " ".join(rng.choice(words) for _ in range(characters // 5))
    elif kind == "chinese":
        text = "".join(rng.choice("我们明天去北京看朋友然后一起吃饭") for _ in range(characters))
    elif kind == "hex":
        text = "".join(rng.choice(string.hexdigits) for _ in range(characters))
    elif kind == "emoji":
        text = "".join(rng.choice("🙂🎉🚀👩‍🚀🇩🇪") for _ in range(characters // 2))
    else:
        text = "".join(f"    x[{rng.randint(0, 99)}] = f({i})\n" for i in range(characters // 18))
    return text[:characters]


def conversation(rng: random.Random) -> list[Message]:
    messages: list[Message] = []
    if rng.random() < 0.6:
        messages.append({"role": "system", "content": made_of(rng, rng.choice([50, 200, 600]))})
    size = rng.choice([100, 400, 1000])
    for _ in range(rng.randint(1, 40)):
        messages.append({"role": "user", "content": made_of(rng, rng.randint(1, size)) or "hello"})
        messages.append({"role": "assistant", "content": made_of(rng, rng.randint(1, size)) or "well"})
    messages.append({"role": "user", "content": made_of(rng, rng.choice([30, 500, 2000, 20_000])) or "why"})
    return messages


def engine_of(rng: random.Random) -> LyingEngine:
    window = rng.choice([2048, 2500, 4096, 8191])
    words = rng.choice(sorted(REFUSALS))
    return LyingEngine(
        window=window,
        words=words,
        truth=rng.choice([0.4, 1.0, 1.0, 1.3, 2.0, 4.0]),
        extra=rng.choice([0, 0, 7, 150]),
        announced=rng.choice([None, window, window * 2, BELIEVED]),
        tokenizer=rng.choice(["honest", "lying", "absent", "failing"]),
        default_answer=rng.choice([0, 100, window // 4]) if words in WITH_ANSWER else 0,
        refuses_in_stream=rng.random() < 0.3,
        tells_usage=rng.random() < 0.7,
    )


def smallest_fits(engine: LyingEngine, body: dict[str, Any]) -> bool:
    """Surely: head and last message, with the line that tells of a cut and what is kept for an answer."""
    messages = body["messages"]
    head = [m for m in messages[:1] if m["role"] == "system"]
    tail = messages[-1]["content"][-2048:] + " [... 20000 characters omitted ...]\n"
    smallest = {**body, "messages": [*head, {"role": "user", "content": tail}]}
    kept = engine.window // 8 + 64
    if "max_tokens" not in body:
        kept = max(kept, engine.default_answer)
    return engine.cost(smallest) + kept < engine.window


async def ask(http: httpx.AsyncClient, body: dict[str, Any]) -> httpx.Response:
    return await http.post("/v1/chat/completions", json=body)


def error_of(reply: httpx.Response) -> dict[str, Any] | None:
    if reply.status_code == 200 and b'"error"' not in reply.content:
        return None
    found: dict[str, Any] = reply.json()["error"]
    return found


@pytest.mark.parametrize("seed", range(CASES))
async def test_one_retry_is_enough(place: Place, seed: int) -> None:
    rng = random.Random(seed)
    engine = place.engine = engine_of(rng)
    messages = conversation(rng)
    fields: dict[str, Any] = {"model": "demo", "stream": rng.random() < 0.4}
    if rng.random() < 0.4:
        fields["max_tokens"] = rng.choice([1, 100, 1000, 30_000])
    settings = Settings(engine_url=place.url, max_context=BELIEVED, embed_wait_s=0.05, log_level="error")
    async with gateway(settings) as running:
        for turn in range(2):
            engine.bodies.clear()
            body = {**fields, "messages": messages}
            reply = await ask(running.http, body)
            error = error_of(reply)
            assert len(engine.bodies) <= 2
            assert len(set(engine.bodies)) == len(engine.bodies)
            if error is not None:
                assert (reply.status_code, error["code"]) == (400, "context_length_exceeded"), (turn, error)
                assert not smallest_fits(engine, body), (turn, engine.words, error)
            messages = [
                *messages,
                {"role": "assistant", "content": "yes"},
                {"role": "user", "content": "and?"},
            ]


@pytest.mark.parametrize("words", sorted(REFUSALS))
async def test_a_refusal_is_not_met_twice(place: Place, words: str) -> None:
    """The window that was told or shown holds for the requests after it, those of others included."""
    engine = place.engine = LyingEngine(4096, words, truth=1.2, extra=20)
    rng = random.Random(1)
    settings = Settings(engine_url=place.url, max_context=8192, embed_wait_s=0.05)
    async with gateway(settings) as running:
        for number in range(6):
            long = [{"role": "user", "content": f"{number} " + made_of(rng, 300)} for _ in range(60)]
            reply = await ask(running.http, {"model": "demo", "messages": long})
            assert reply.status_code == 200
    assert engine.refusals <= 1


@pytest.mark.parametrize("words", sorted(AT_THE_WINDOW | WITH_ANSWER))
async def test_the_words_of_the_scripted_engine_are_understood(place: Place, words: str) -> None:
    engine = place.engine = LyingEngine(64, words)
    async with httpx.AsyncClient() as http:
        body = {"model": "demo", "max_tokens": 30, "messages": [{"role": "user", "content": "word " * 200}]}
        reply = await http.post(f"{place.url}/chat/completions", json=body)
    told = parse_overflow(reply.content)
    assert told is not None
    assert told.window == 64
    assert engine.refusals == 1


async def test_a_silent_cut_is_seen_and_not_met_again(place: Place) -> None:
    """Ollama drops old messages and says nothing; `usage` betrays it."""
    engine = place.engine = LyingEngine(4096, "ollama", truncates=True)
    history = [
        {"role": role, "content": f"{number} " + "the river rose in the night and nobody knew " * 20}
        for number in range(20)
        for role in ("user", "assistant")
    ]
    settings = Settings(engine_url=place.url, max_context=BELIEVED, embed_wait_s=0.05)
    async with gateway(settings) as running:
        for question in ("why?", "and then?"):
            body = {"model": "demo", "messages": [*history, {"role": "user", "content": question}]}
            assert (await ask(running.http, body)).status_code == 200
        metric = await running.metric('backscroll_degradations_total{part="engine_truncated"}')
    assert metric == 1.0
    first, second = (json.loads(raw) for raw in engine.bodies)
    assert not engine.fits(first)
    assert engine.fits(second)
