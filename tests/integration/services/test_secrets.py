"""What clients write, in headers and bodies, is in no log, no metric, no error and no record's metadata."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from services.gateway.http.keys import FileKeys, new_key
from shared.settings import Settings
from tests.support.scripted_engine import CHAT, TOKENIZE, ScriptedEngine
from tests.support.stack import Stack, running
from tests.support.talk import Message, talk, user

MARK = "MARKEDSECRET"
ENGINE_KEY = f"{MARK}-engine-key"


@pytest.fixture
async def key(tmp_path: Path) -> str:
    made, stored = new_key("acme", 1.0)
    await FileKeys(tmp_path / "keys.json").save(stored)
    return made


@pytest.fixture
async def stack(settings: Settings, tmp_path: Path, key: str, logs: io.StringIO) -> AsyncIterator[Stack]:
    changed = {"keys_file": tmp_path / "keys.json", "engine_api_key": ENGINE_KEY, "max_messages": 500}
    async with running(settings.model_copy(update=changed), tmp_path / "nats") as stack:
        yield stack


def marked(pairs: int) -> list[Message]:
    said = [m | {"content": f"{m['content']} {MARK}"} for m in talk("house", pairs)]
    return [*said, user(f"Where is the {MARK}?")]


async def down(scope: Any, receive: Any, send: Any) -> None:
    raise RuntimeError(MARK)


async def test_they_are_nowhere(stack: Stack, key: str, engine: ScriptedEngine, logs: io.StringIO) -> None:
    headers = {"x-api-key": key, "x-session-id": "a-label", "x-other": MARK, "user-agent": MARK}
    told: list[str] = []
    records: list[str] = []

    async def post(body: Any, given: dict[str, str] = headers, path: str = "chat/completions") -> int:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        reply = await stack.http.post(f"/v1/{path}", content=content, headers=given)
        if reply.status_code != 200:
            told.append(reply.text)
        if record := reply.headers.get("x-backscroll-record"):
            records.append(record)
        return reply.status_code

    def body(messages: list[Message], **fields: Any) -> dict[str, Any]:
        return {"model": "demo-extractive", "messages": messages, "user": MARK, **fields}

    assert await post(body(marked(100))) == 200
    assert await post(body(marked(2))) == 200
    assert await post(body(marked(100), stream=True)) == 200
    assert await post(body(marked(2)), {**headers, "x-api-key": f"bs-{MARK}"}) == 401
    assert await post(body(marked(300))) == 400
    assert await post(body([{"role": "user", "content": [{"type": "text", "text": {"a": MARK}}]}])) == 400
    assert await post(b'{"model": "m", "messages": [' + MARK.encode()) == 400
    assert await post(body([user(MARK)]) | {"max_tokens": MARK}) == 400
    engine.faults[TOKENIZE] = down
    assert await post(body(marked(101))) == 200
    engine.faults[CHAT] = down
    assert await post(body(marked(2))) >= 500
    assert await post(body(marked(102))) >= 500
    for record in records[:2]:
        reply = await stack.http.get(f"/v1/records/{record}", headers={"x-api-key": key})
        found = reply.json()
        # What the model saw, and what it might have seen.
        for content in ("prompt", "candidates", "asked"):
            found.pop(content)
        told.append(json.dumps(found))
    await stack.stop("assembler")
    del engine.faults[CHAT]
    assert await post(body(marked(103))) == 200
    await stack.stop("retriever")
    await stack.stop_nats()
    # Long enough to be assembled, and some that are just long enough to be published.
    for pairs in (104, *range(12, 40, 3)):
        await post(body(marked(pairs)))
    assert "publishing put off" in logs.getvalue()
    await stack.start_nats()
    await asyncio.sleep(0.1)

    metrics = (await stack.http.get("/metrics")).text
    for where in (logs.getvalue(), metrics, *told):
        for secret in (MARK, key, key[3:]):
            assert secret not in where, where
    assert '"level": "warning"' in logs.getvalue()
