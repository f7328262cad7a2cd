"""`backscroll replay` beside running services: it looks, runs again, and resets where it is told to."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from backscroll.cli import app
from shared.bus.subjects import CHUNKS, MESSAGES
from shared.settings import Settings
from tests.integration.services.asking import Answered, ask
from tests.integration.services.test_erase import settled
from tests.support.embedding_server import EmbeddingServer
from tests.support.eventually import eventually
from tests.support.stack import Stack
from tests.support.talk import LOCK, LOCK_QUESTION, talk, user

LONG = "The garden plan lists beds, paths and trees; every line of it names a number. " * 40


@pytest.fixture
async def asked(stack: Stack, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Answered:
    """One conversation, indexed; and the environment of an operator's shell."""
    answered = await ask(stack, [*talk("house"), user(LONG), user(LOCK_QUESTION)], "chat one")
    await settled(stack)
    monkeypatch.setenv("BACKSCROLL_NATS_URL", stack._nats.url)
    monkeypatch.setenv("COLUMNS", "160")
    for name in ("data_dir", "embed_url", "embed_dim", "max_context"):
        monkeypatch.setenv(f"BACKSCROLL_{name.upper()}", str(getattr(settings, name)))
    return answered


async def command(*arguments: str, answer: str = "") -> Result:
    return await asyncio.to_thread(CliRunner().invoke, app, ["replay", *arguments], input=answer)


async def lines(*arguments: str) -> list[dict[str, Any]]:
    done = await command(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


async def untouched(stack: Stack) -> dict[str, Any]:
    """What is in use, as far as a replay could reach it."""
    infos = await stack.bus.js.streams_info()
    streams = {str(i.config.name): (i.state.messages, i.state.last_seq) for i in infos}
    durables = {}
    for stream, name in ((MESSAGES, "chunker"), (CHUNKS, "terms"), (CHUNKS, "vectors")):
        durables[name] = (await stack.bus.js.consumer_info(stream, name)).ack_floor
    consumers = {name: len(await stack.bus.js.consumers_info(name)) for name in (MESSAGES, CHUNKS, "RECORDS")}
    return {"streams": streams, "durables": durables, "consumers": consumers}


async def test_streams_are_listed_and_followed(stack: Stack, asked: Answered) -> None:
    before = await untouched(stack)
    (recorded,) = await lines("list", "--session", "chat one")
    assert (recorded["stream"], recorded["tenant"]) == (MESSAGES, "default")
    assert recorded["holds"].startswith("202 messages, 202 units")
    assert "event" not in recorded
    (chunked,) = await lines("list", CHUNKS, "--content", "--from-seq", "1")
    assert len(chunked["event"]["messages"]) == 202
    (record,) = await lines("list", "RECORDS", "--since", "10m")
    assert record["holds"].startswith(f"{asked.record_id}: cold")
    for nothing in (("--session", "other"), ("--tenant", "other"), ("--until", "10m"), ("--from-seq", "2")):
        assert await lines("list", *nothing) == []
    told = await command("list", "RECORDS")
    assert "cold" in told.stdout
    assert LOCK not in told.stdout
    assert LOCK in (await command("list", "--content")).stdout
    assert (await command("list", "KEYS")).exit_code == 2
    assert await untouched(stack) == before


async def test_a_range_is_run_again_with_other_settings(
    stack: Stack, asked: Answered, embeddings: EmbeddingServer, tmp_path: Path
) -> None:
    before, texts = await untouched(stack), len(embeddings.texts)
    found = await lines("run", "--session", "chat one", "--setting", "chunk_tokens=64", "--no-vectors")
    (done,) = found
    assert (done["events"], done["messages"]) == (1, 202)
    assert done["cuts"]["before"]["chunks"] < done["cuts"]["after"]["chunks"]
    assert done["cuts"]["after"]["longest"] <= 2 * 400
    assert done["cuts"]["changed"] == 1
    (request,) = done["asked"]
    assert (request["record"], request["action"], request["indexed"]) == (asked.record_id, "cold", 1.0)
    # How many vectors there were when it was recorded is chance, and with them how much is found again.
    assert request["recorded"]["share"] > 0
    assert request["changed"]["both"] > 0
    assert len(embeddings.texts) == texts
    assert await untouched(stack) == before
    assert not (tmp_path / "replay").exists()


async def test_a_scratch_store_can_be_kept_and_has_vectors(
    stack: Stack, asked: Answered, tmp_path: Path
) -> None:
    told = await command("run", "--into", "mine", "--to-seq", "1")
    assert told.exit_code == 0, told.output
    assert "nothing that is in use is written to" in told.output
    assert "202 messages" in told.stdout
    (kept,) = await asyncio.to_thread(lambda: list((tmp_path / "replay" / "store").iterdir()))
    assert kept.name.startswith("replay-mine-now-")
    for wrong in ("chunk_tokens", "no_such=1", "chunk_tokens=many"):
        assert (await command("run", "--setting", wrong)).exit_code == 1


async def test_a_durable_is_reset_only_when_asked_to(
    stack: Stack, asked: Answered, embeddings: EmbeddingServer
) -> None:
    texts, before = len(embeddings.texts), await untouched(stack)
    no = await command("reset", "chunker", "--from-seq", "1", answer="n\n")
    assert no.exit_code == 1
    assert "handed 1 events of MESSAGES from 1 on" in no.stdout
    assert await untouched(stack) == before
    # As after a fault that lost chunks: the store is empty, the events are still there.
    await stack.store.forget("default", "chat one", 1)
    yes = await command("reset", "terms", "--since", "10m", "--yes")
    assert yes.exit_code == 0, yes.output
    chunked = (await lines("list", CHUNKS, "--content"))[0]["event"]["messages"]
    keys = [int(m["address"], 16) & (2**63 - 1) for m in chunked]

    async def there() -> bool:
        return await stack.store.missing("default", keys) == set()

    await eventually(there)
    await settled(stack)
    assert len(embeddings.texts) == texts
    assert "nothing to deliver" in (await command("reset", "vectors", "--from-seq", "999")).stdout
    assert (await command("reset", "gateway", "--from-seq", "1")).exit_code == 1
    assert (await command("reset", "terms")).exit_code == 2


async def test_a_recorded_request_is_planned_again(stack: Stack, asked: Answered) -> None:
    before = await untouched(stack)
    record = asked.record_id or ""
    (same,) = await lines("plan", record)
    for name in ("action", "window starts at", "usable", "memory"):
        was, now = same["compared"][name]
        assert was == now, name
    assert LOCK in {moved["text"] for moved in same["excerpts"] if moved["side"] == "both"}
    (less,) = await lines("plan", record, "--setting", "memory_max_tokens=200", "--without-state")
    assert less["compared"]["excerpts"][1] < same["compared"]["excerpts"][1]
    told = await command("plan", record, "--setting", "profile=seed")
    assert told.exit_code == 0, told.output
    assert "excerpts" in told.stdout
    assert (await command("plan", "no-such-record")).exit_code == 1
    assert (await command("plan", record, "--setting", "chunk_tokens=64")).exit_code == 1
    assert await untouched(stack) == before
