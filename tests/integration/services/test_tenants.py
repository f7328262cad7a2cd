"""Two tenants with the same chats, sessions and ids: every store is looked through."""

import json
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import nats.js.errors
import pytest
import qdrant_edge as edge

from services.gateway.http.keys import FileKeys, new_key
from shared.bus.codec import unpack
from shared.bus.subjects import token
from shared.contracts.events import MessagesRecorded, RecordedMessage, Unit
from shared.settings import Settings
from shared.store.edge import EdgeStore
from tests.support.addresses import address_keys
from tests.support.embedding_server import EmbeddingServer
from tests.support.eventually import eventually
from tests.support.scripted_engine import ScriptedEngine
from tests.support.stack import Stack, running
from tests.support.talk import LOCK, LOCK_QUESTION, talk, user

TENANTS = ("acme", "beta")
MESSAGES = [*talk("house"), user(LOCK_QUESTION)]


@pytest.fixture
async def keys(tmp_path: Path) -> dict[str, str]:
    made = {}
    for tenant in TENANTS:
        made[tenant], stored = new_key(tenant, 1.0)
        await FileKeys(tmp_path / "keys.json").save(stored)
    return made


@pytest.fixture
async def stack(settings: Settings, tmp_path: Path, keys: dict[str, str]) -> AsyncIterator[Stack]:
    with_keys = settings.model_copy(
        update={"keys_file": tmp_path / "keys.json", "engine_api_key": "engine-key-1"}
    )
    async with running(with_keys, tmp_path / "nats") as stack:
        yield stack


async def ask(stack: Stack, key: str) -> httpx.Response:
    body = {"model": "demo-extractive", "messages": MESSAGES}
    headers = {"authorization": f"Bearer {key}", "x-session-id": "same"}
    return await stack.http.post("/v1/chat/completions", json=body, headers=headers)


async def stored(stack: Stack, stream: str) -> list[tuple[str, bytes]]:
    """Subject and body of everything in a stream."""
    info = await stack.bus.js.stream_info(stream)
    found = []
    for seq in range(max(info.state.first_seq, 1), info.state.last_seq + 1):
        # What was replaced by a newer value is gone.
        with suppress(nats.js.errors.NotFoundError):
            message = await stack.bus.js.get_msg(stream, seq)
            found.append((str(message.subject), message.data or b""))
    return found


async def points(stack: Stack) -> list[dict[str, Any]]:
    """Everything in the store, which no call of the store itself gives out."""
    everything = edge.ScrollRequest(limit=100_000, with_payload=True, with_vector=False)
    assert isinstance(stack.store, EdgeStore)
    records, after = await stack.store._run(lambda shard: shard.scroll(everything))
    assert after is None
    payloads = [dict(record.payload or {}) for record in records]
    # One point of each tenant names its store.
    made = [payload["tenant"] for payload in payloads if payload["form"] == "identity"]
    assert sorted(made) == sorted(TENANTS)
    return [payload for payload in payloads if payload["form"] != "identity"]


async def test_they_share_nothing(stack: Stack, keys: dict[str, str], embeddings: EmbeddingServer) -> None:
    replies = {tenant: await ask(stack, keys[tenant]) for tenant in TENANTS}
    for reply in replies.values():
        assert reply.status_code == 200, reply.text
        assert reply.headers["x-backscroll-mode"] == "assembled"
        assert reply.headers["x-backscroll-session"] == "same"
        assert "9174" in reply.text

    # Addresses, and with them chunk ids and chain hashes.
    own = {tenant: set(address_keys(MESSAGES, tenant)) for tenant in TENANTS}
    assert not own["acme"] & own["beta"]
    found = await points(stack)
    for point in found:
        assert point["address"] in own[point["tenant"]]
    counts = Counter(point["tenant"] for point in found)
    assert counts["acme"] == counts["beta"] > len(MESSAGES)
    for tenant, other in (TENANTS, TENANTS[::-1]):
        assert await stack.store.missing(tenant, sorted(own[tenant])) == set()
        assert await stack.store.missing(tenant, sorted(own[other])) == own[other]
        assert await stack.store.chunks(tenant, sorted(own[other])) == []
        digests = [point["digest"] for point in found if point["tenant"] == other and "digest" in point]
        assert await stack.store.vectors_by_digest("another", digests) == {}

    # Streams: the subject names the tenant that the body speaks of.
    for stream in ("MESSAGES", "CHUNKS", "RECORDS"):
        events = await stored(stack, stream)
        by_tenant = {tenant: [e for e in events if f".{token(tenant)}." in e[0]] for tenant in TENANTS}
        assert len(by_tenant["acme"]) == len(by_tenant["beta"]) > 0
        assert sum(map(len, by_tenant.values())) == len(events)
        for tenant, other in (TENANTS, TENANTS[::-1]):
            for _, body in by_tenant[tenant]:
                told = json.loads(unpack(body))
                assert told["tenant"] == tenant
                assert f'"{other}"' not in json.dumps(told)

    # State: each tip under a key of its own.
    tips = await stored(stack, "KV_tips")
    assert len({subject for subject, _ in tips}) == len(tips) == 2
    assert await stored(stack, "DEADLETTERS") == []
    for bucket in ("claims", "claims-rpc"):
        assert await stored(stack, f"OBJ_{bucket}") == []

    # A record is its own tenant's alone.
    for tenant, other in (TENANTS, TENANTS[::-1]):
        path = f"/v1/records/{replies[tenant].headers['x-backscroll-record']}"
        mine = await stack.http.get(path, headers={"x-api-key": keys[tenant]})
        assert mine.status_code == 200
        assert LOCK in mine.text
        theirs = await stack.http.get(path, headers={"x-api-key": keys[other]})
        assert theirs.status_code == 404
        assert LOCK not in theirs.text

    # A text is embedded once for each.
    await eventually(lambda: Counter(embeddings.texts)[LOCK] == 2)
    for tenant in TENANTS:
        assert (await ask(stack, keys[tenant])).status_code == 200
    assert Counter(embeddings.texts)[LOCK] == 2


async def test_equal_bodies_of_two_tenants_are_two_objects(stack: Stack) -> None:
    await stack.stop("chunker")
    unit = Unit(
        unit=0,
        kind="user",
        tool=None,
        text="".join(chr(0x4E00 + code) for code in random.Random(1).choices(range(20_900), k=400_000)),
    )
    message = RecordedMessage(address="00" * 16, role="user", units=(unit,))
    for tenant in TENANTS:
        await stack.bus.publish(MessagesRecorded(tenant=tenant, session="same", at=1.0, messages=(message,)))
    store = await stack.bus.js.object_store("claims")
    names = [entry.name for entry in await store.list()]
    assert len(names) == len(set(names)) == 2


async def test_the_engine_gets_its_own_key(
    stack: Stack, keys: dict[str, str], engine: ScriptedEngine
) -> None:
    seen: list[bytes] = []

    async def watched(scope: Any, receive: Any, send: Any) -> None:
        seen.extend(name + b": " + value for name, value in scope["headers"])
        await engine._app(scope, receive, send)

    for path in ("/v1/chat/completions", "/v1/models", "/tokenize", "/v1/embeddings"):
        engine.faults[path] = watched
    await ask(stack, keys["acme"])
    await stack.http.get("/v1/models", headers={"x-api-key": keys["acme"]})
    await stack.http.post("/v1/embeddings", headers={"x-api-key": keys["acme"]}, json={"model": "x"})
    assert b"authorization: Bearer engine-key-1" in seen
    assert not [header for header in seen if keys["acme"].encode() in header]
