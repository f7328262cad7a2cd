"""A part is down: the client is answered all the same; header, counter and record say what was missing."""

from pathlib import Path
from typing import Any

import openai
import pytest
from starlette.responses import JSONResponse

from shared.settings import Settings
from tests.integration.services.asking import Answered, ask, whole
from tests.support.addresses import address_keys
from tests.support.embedding_server import EmbeddingServer
from tests.support.eventually import eventually
from tests.support.qdrant_http import serve_qdrant
from tests.support.rerank_server import rerank_server
from tests.support.scripted_engine import CHAT, TOKENIZE, ScriptedEngine
from tests.support.stack import Stack, running
from tests.support.talk import BOILER_QUESTION, LOCK_QUESTION, Message, assistant, talk, user


async def told(stack: Stack, messages: list[Message], part: str) -> Answered:
    """Asked while `part` is missing: header, counter and record name it, and nothing else."""
    before = await stack.counted(part)
    answered = await ask(stack, messages)
    assert answered.mode == "assembled"
    assert answered.degraded == [part]
    assert await stack.counted(part) == before + 1
    record = await stack.record(answered.record_id or "")
    assert (record["degraded"], record["status"]) == ([part], 200)
    return answered


async def test_retriever(stack: Stack) -> None:
    history = [*talk("hall"), user(LOCK_QUESTION)]
    assert "9174" in (await whole(stack, history)).text
    await stack.stop("retriever")
    history += [assistant("9174."), user("And once more: what is the combination of the bicycle lock?")]
    # The block of the request before still stands.
    assert "9174" in (await told(stack, history, "retriever_unavailable")).text
    assert (
        "RB-2209"
        not in (await told(stack, [*talk("cellar"), user(BOILER_QUESTION)], "retriever_unavailable")).text
    )
    await stack.start("retriever")
    history += [assistant("9174."), user(BOILER_QUESTION)]
    assert "RB-2209" in (await whole(stack, history)).text


async def test_store(settings: Settings, tmp_path: Path) -> None:
    with serve_qdrant(tmp_path / "qdrant") as (url, qdrant):
        async with running(settings.model_copy(update={"qdrant_url": url}), tmp_path / "nats") as stack:
            history = [*talk("hall"), user(LOCK_QUESTION)]
            assert "9174" in (await whole(stack, history)).text
            qdrant.fail_with = 503
            history += [assistant("9174."), user("Thank you. The rain has stopped at last.")]
            await told(stack, history, "retriever_unavailable")
            # Everything of this one is published while nothing can be written.
            other = [*talk("cellar"), user(BOILER_QUESTION)]
            await told(stack, other, "retriever_unavailable")
            qdrant.fail_with = None
            assert (
                "RB-2209"
                in (await whole(stack, [*other, assistant("I do not know."), user(BOILER_QUESTION)])).text
            )


async def test_assembler(stack: Stack) -> None:
    history = [*talk("hall"), user(LOCK_QUESTION)]
    await stack.stop("assembler")
    assert "9174" not in (await told(stack, history, "assembler_unavailable")).text
    await stack.start("assembler")
    history += [assistant("I do not know."), user(LOCK_QUESTION)]
    assert "9174" in (await whole(stack, history)).text


async def test_bus(stack: Stack) -> None:
    """Records of the time are lost; what was not published is caught up by a later request."""
    near_full = [*talk("attic", 30), user("Thank you.")]
    history = [*talk("hall"), user(LOCK_QUESTION)]
    await stack.stop_nats()
    await eventually(lambda: not stack.bus.is_connected)
    before = await stack.counted("bus_unavailable")
    short = await ask(stack, [user("Hello.")])
    assert (short.mode, short.degraded) == ("passthrough", [])
    passed = await ask(stack, near_full)
    assert (passed.mode, passed.degraded) == ("passthrough", ["bus_unavailable"])
    assembled = await ask(stack, history)
    assert (assembled.mode, assembled.degraded) == ("assembled", ["bus_unavailable"])
    assert await stack.counted("bus_unavailable") >= before + 2
    ready = await stack.http.get("/health/ready")
    assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
    lost = await stack.http.get(f"/v1/records/{assembled.record_id}")
    assert (lost.status_code, lost.json()["error"]["code"]) == (503, "dependency_unavailable")
    await stack.start_nats()
    await eventually(lambda: stack.bus.is_connected)
    history += [assistant("I do not know."), user(LOCK_QUESTION)]
    assert "9174" in (await whole(stack, history)).text
    assert (await stack.http.get("/health/ready")).json()["status"] == "ok"


async def test_tokenizer(stack: Stack, engine: ScriptedEngine) -> None:
    engine.faults[TOKENIZE] = JSONResponse({"detail": "busy"}, 503)
    assert "9174" in (await told(stack, [*talk("hall"), user(LOCK_QUESTION)], "count_estimated")).text
    assert engine.engine.refusals == 0


async def test_embedding_server(stack: Stack, embeddings: EmbeddingServer) -> None:
    history = [*talk("hall"), user(LOCK_QUESTION)]
    await whole(stack, history)
    # Only a history that has its vectors is asked about with one.
    await eventually(lambda: {m["content"] for m in history} <= set(embeddings.texts))
    embeddings.down = True
    history += [assistant("9174."), user(BOILER_QUESTION)]
    assert "RB-2209" in (await told(stack, history, "embed_unavailable")).text
    embeddings.down = False
    history += [assistant("RB-2209."), user("Is there anything else about the boiler?")]
    await whole(stack, history)


async def test_rerank_server(settings: Settings, tmp_path: Path) -> None:
    with rerank_server() as server:
        async with running(
            settings.model_copy(update={"rerank_url": server.url}), tmp_path / "nats"
        ) as stack:
            history = [*talk("hall"), user(LOCK_QUESTION)]
            assert "9174" in (await whole(stack, history)).text
            assert server.asked > 0
            server.down = True
            other = [*talk("cellar"), user(BOILER_QUESTION)]
            assert "RB-2209" in (await told(stack, other, "rerank_unavailable")).text
            history += [assistant("9174."), user("Whatever did we say about the weather in June?")]
            await told(stack, history, "rerank_unavailable")


async def test_index_behind(settings: Settings, tmp_path: Path) -> None:
    async with running(settings.model_copy(update={"embed_wait_s": 0.3}), tmp_path / "nats") as stack:
        await stack.stop("chunker")
        history = [*talk("hall"), user(LOCK_QUESTION)]
        assert "9174" not in (await told(stack, history, "index_incomplete")).text
        await stack.start("chunker")
        history += [assistant("I do not know."), user(LOCK_QUESTION)]
        keys = address_keys(history[:-2])

        async def indexed() -> bool:
            return not await stack.store.missing("default", keys)

        await eventually(indexed)
        assert "9174" in (await whole(stack, history)).text


@pytest.mark.parametrize("length", [1, 100])
async def test_engine_gone(settings: Settings, tmp_path: Path, length: int) -> None:
    settings = settings.model_copy(update={"engine_url": "http://127.0.0.1:9/v1"})
    async with running(settings, tmp_path / "nats") as stack:
        with pytest.raises(openai.InternalServerError) as caught:
            await ask(stack, [*talk("hall", length), user("Hello.")])
        assert caught.value.status_code == 502
        assert caught.value.code == "engine_unavailable"
        assert "cannot be reached" in caught.value.message


@pytest.mark.parametrize("length", [1, 100])
async def test_what_the_engine_refuses_is_passed_on_unchanged(
    stack: Stack, engine: ScriptedEngine, length: int
) -> None:
    refusal: dict[str, Any] = {
        "error": {
            "message": "top_p must be in (0, 1].",
            "type": "BadRequestError",
            "param": "top_p",
            "code": 400,
        }
    }
    engine.faults[CHAT] = JSONResponse(refusal, 400, headers={"x-engine": "yes"})
    body = {"model": "demo-extractive", "messages": [*talk("hall", length), user("Hello.")], "top_p": 7}
    reply = await stack.http.post("/v1/chat/completions", json=body)
    assert (reply.status_code, reply.json(), reply.headers["x-engine"]) == (400, refusal, "yes")
    with pytest.raises(openai.BadRequestError, match="top_p must be in"):
        await ask(stack, body["messages"])
