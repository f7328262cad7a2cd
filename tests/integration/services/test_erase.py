"""A session goes for good: from every stream, bucket, store, file and log, and nothing brings it back."""

import asyncio
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from backscroll.cli import app
from shared.bus.subjects import CHUNKS, MESSAGES, ROUTES
from shared.contracts.base import Kind, Role
from shared.contracts.events import (
    ChunksCreated,
    MessagesRecorded,
    OfSession,
    RecordedMessage,
    Unit,
)
from shared.conversation.address import address, address_key, tenant_key
from shared.store.port import IndexedMessage, Origin
from tests.integration.services.asking import ask, whole
from tests.support.chunks import chunked
from tests.support.embedding_server import EmbeddingServer
from tests.support.eventually import eventually
from tests.support.on_disk import files_with
from tests.support.stack import Stack
from tests.support.talk import LOCK, LOCK_QUESTION, Message, talk, user

TENANT = "default"
GONE, STAYS = "gonehouse", "stayhouse"


def history(name: str) -> list[Message]:
    return [*talk(name), user(LOCK_QUESTION)]


def key_of(text: str) -> int:
    return address_key(address_of(text))


def address_of(text: str) -> bytes:
    return address(tenant_key(TENANT), text.encode())


async def erased(stack: Stack, session: str) -> dict[str, int]:
    reply = await stack.http.delete(f"/v1/sessions/{session}")
    assert reply.status_code == 200, reply.text
    receipt: dict[str, int] = reply.json()
    return receipt


async def settled(stack: Stack) -> None:
    async def idle() -> bool:
        infos = [
            await stack.bus.js.consumer_info(stream, name)
            for stream, name in ((MESSAGES, "chunker"), (CHUNKS, "terms"), (CHUNKS, "vectors"))
        ]
        return not any((info.num_pending or 0) + (info.num_ack_pending or 0) for info in infos)

    await eventually(idle)


async def test_it_is_nowhere_afterwards(
    stack: Stack, tmp_path: Path, logs: io.StringIO, embeddings: EmbeddingServer
) -> None:
    embeddings.refuses = lambda text: f"In {GONE} shelf 0 " in text
    # What both say was said by the one that goes first.
    gone, stays = await ask(stack, history(GONE), "a/b c"), await ask(stack, history(STAYS), "other")
    assert (gone.mode, stays.mode) == ("assembled", "assembled")
    await settled(stack)
    for folder in ("nats", "store"):
        assert await asyncio.to_thread(files_with, tmp_path / folder, GONE)

    session = "a%2Fb%20c"
    label = (await stack.http.get(f"/v1/records/{gone.record_id}")).json()["session"]
    receipt = await erased(stack, session)
    assert receipt["session"] == label
    # 97 pairs that only this session said, the answers in two of the other three, and its question is shared.
    assert receipt["texts"] == 98 + 100
    assert receipt["kept"] == 3
    for part in ("message_events", "chunk_events", "records", "dead_letters", "tips", "chunks"):
        assert receipt[part] > 0, part

    assert await asyncio.to_thread(files_with, tmp_path, GONE) == []
    assert await asyncio.to_thread(files_with, tmp_path, STAYS)
    assert GONE not in logs.getvalue()
    assert (await stack.http.get(f"/v1/records/{gone.record_id}")).status_code == 404
    assert (await stack.http.get(f"/v1/records/{stays.record_id}")).status_code == 200
    again = await erased(stack, session)
    assert {again[part] for part in receipt if part not in ("tenant", "session", "era", "at")} == {0}

    # The other session finds what it said too, without embedding anything anew.
    before = len(embeddings.texts)
    longer = [*history(STAYS), {"role": "assistant", "content": "9174."}, user(f"Sure? {LOCK_QUESTION}")]
    answered = await whole(stack, longer)
    assert LOCK in (await stack.record(answered.record_id or ""))["prompt"]["messages"][0]["content"]
    await settled(stack)
    assert len(embeddings.texts) <= before + 3


async def test_a_session_that_goes_on_begins_anew(stack: Stack, tmp_path: Path) -> None:
    """Within the two minutes in which equal events are kept once."""
    first = await ask(stack, history(GONE), "again")
    await settled(stack)
    await erased(stack, "again")
    second = await ask(stack, history(GONE), "again")
    assert (second.mode, second.degraded) == ("assembled", [])
    record = await stack.record(second.record_id or "")
    assert (record["action"], record["inherited"]) == ("cold", None)
    assert LOCK in str(record["prompt"])
    await settled(stack)
    assert (await stack.http.get(f"/v1/records/{first.record_id}")).status_code == 404
    receipt = await erased(stack, "again")
    assert receipt["texts"] == 201
    assert await asyncio.to_thread(files_with, tmp_path, GONE) == []


def recorded(text: str, era: int = 0) -> MessagesRecorded:
    unit = Unit(unit=0, kind=Kind.USER, text=text)
    message = RecordedMessage(address=address_of(text).hex(), role=Role.USER, units=(unit,))
    return MessagesRecorded(tenant=TENANT, session="s", era=era, at=1.0, messages=(message,))


def cut(text: str) -> ChunksCreated:
    return ChunksCreated(
        tenant=TENANT, session="s", at=1.0, messages=(chunked(address_of(text).hex(), text),)
    )


async def past_the_check(stack: Stack, event: OfSession) -> None:
    """As a publisher does that looked a moment before the erasure."""
    stream, subject = ROUTES[type(event)]
    await stack.bus._publish(stream, subject(event), event)


async def test_what_was_under_way_stays_dead(stack: Stack, tmp_path: Path) -> None:
    await stack.bus.publish(recorded("known before"))
    await settled(stack)
    await stack.stop("chunker")
    await stack.bus.publish(recorded("waits for the chunker"))
    receipt = await erased(stack, "s")
    assert (receipt["message_events"], receipt["texts"]) == (2, 1)
    await past_the_check(stack, recorded("late at the chunker"))
    await past_the_check(stack, cut("late at the embedder"))
    # Looked before it was published, and found dead.
    await stack.bus.publish_many([recorded("dead at once"), cut("dead at once")])
    await stack.bus.publish(recorded("said anew", era=receipt["era"]))
    await stack.start("chunker")
    await settled(stack)
    gone = ("known before", "waits for the chunker", "late at the chunker", "late at the embedder")
    for text in (*gone, "dead at once"):
        assert await asyncio.to_thread(files_with, tmp_path, text) == [], text
        assert await stack.store.missing(TENANT, [key_of(text)]) == {key_of(text)}
    assert await stack.store.missing(TENANT, [key_of("said anew")]) == set()
    for stream in (MESSAGES, CHUNKS):
        assert (await stack.bus.js.stream_info(stream)).state.messages == 1


async def test_what_is_written_at_this_very_moment_is_undone(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Terms are there, the vectors are made; the erasure comes; then they are written."""
    write, begun, erasing = stack.store.put_vectors, asyncio.Event(), asyncio.Event()
    written: set[str] = set()

    async def put_vectors(origin: Origin, messages: Sequence[IndexedMessage]) -> None:
        begun.set()
        await erasing.wait()
        await write(origin, messages)
        written.update(message.address for message in messages)

    monkeypatch.setattr(stack.store, "put_vectors", put_vectors)
    for text in ("slow one", "slow two"):
        await stack.bus.publish(recorded(text))
    keys = [key_of("slow one"), key_of("slow two")]

    async def indexed() -> bool:
        return await stack.store.missing(TENANT, keys) == set()

    await eventually(indexed)
    await eventually(begun.is_set)
    receipt = await erased(stack, "s")
    assert (await stack.store.coverage(TENANT, keys)).chunks == 0
    erasing.set()
    # The server counts no message as unsettled that is deleted, however long it is worked on. But batches
    # go one after the other: what comes later is written when they are done.
    await stack.bus.publish(recorded("said anew", era=receipt["era"]))
    await eventually(lambda: address_of("said anew").hex() in written)
    assert address_of("slow one").hex() in written

    async def undone() -> bool:
        return await stack.store.missing(TENANT, keys) == set(keys)

    await eventually(undone)
    await stack.stop("embedder")
    assert (await stack.store.coverage(TENANT, keys)).chunks == 0
    assert await asyncio.to_thread(files_with, tmp_path, "slow ") == []


async def test_the_command_erases_too_and_asks_first(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKSCROLL_NATS_URL", stack._nats.url)
    await stack.bus.publish(recorded("said once"))
    await settled(stack)

    async def command(*arguments: str, answer: str = "") -> Result:
        return await asyncio.to_thread(CliRunner().invoke, app, ["erase", *arguments], input=answer)

    assert (await command("s", answer="n\n")).exit_code == 1
    assert await stack.store.missing(TENANT, [key_of("said once")]) == set()
    other = await command("s", "--tenant", "other", "--yes", "--json")
    assert json.loads(other.stdout)["texts"] == 0
    done = await command(" s ", answer="y\n")
    assert done.exit_code == 0, done.output
    assert "1  messages in the chunk store" in done.stdout
    assert await stack.store.missing(TENANT, [key_of("said once")]) == {key_of("said once")}
    await stack.stop("embedder")
    lost = await command("s", "--yes")
    assert lost.exit_code == 1
    assert "nobody answers" in lost.output


async def test_only_its_tenant_can_erase_it_and_only_where_the_embedder_is(stack: Stack) -> None:
    assert (await stack.http.delete("/v1/sessions/%20")).status_code == 400
    await stack.stop("embedder")
    reply = await stack.http.delete("/v1/sessions/s")
    assert reply.status_code == 503
