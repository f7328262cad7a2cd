"""Each service's user on a real server with the configuration that compose.yaml mounts."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import nats
import pytest
from nats.aio.client import Client
from nats.errors import NoRespondersError

from shared.bus import ASSEMBLE, CHUNKER, ERASE, RERANK, RETRIEVE, TERMS, VECTORS, connect, subjects
from shared.bus.permissions import SERVICES, inbox
from shared.settings import Settings
from tests.support.compose_nats import ComposeNats
from tests.support.eventually import eventually

LAST = "nobody.may"
EVENTS = {
    "messages": subjects.messages("acme", "chat-1"),
    "chunks": subjects.chunks("acme", "chat-1"),
    "documents": subjects.documents("acme", "library"),
    "record": subjects.record("acme", "chat-1", "r1"),
    "tip": "$KV.tips.abc",
    "key": "$KV.keys.abc",
    "tombstone": "$KV.erased.abc",
    "purge": f"$JS.API.STREAM.PURGE.{subjects.MESSAGES}",
    "delete": f"$JS.API.STREAM.DELETE.{subjects.MESSAGES}",
    "create": "$JS.API.STREAM.CREATE.MINE",
    **{f"ask {m.name}": m.subject for m in (ASSEMBLE, RETRIEVE, RERANK, ERASE)},
    **{f"pull {d.name}": f"$JS.API.CONSUMER.MSG.NEXT.{d.stream}.{d.name}" for d in (CHUNKER, TERMS, VECTORS)},
    **{f"bury {s}": subjects.dead_letter(subjects.messages("acme", "chat-1"), s) for s in SERVICES},
}
MAY = {
    "gateway": {"messages", "record", "tip", "ask assemble", "ask erase"},
    "chunker": {"chunks", "pull chunker", "bury chunker"},
    "embedder": {"pull terms", "pull vectors", "bury embedder", "tip", "tombstone"},
    "retriever": set[str](),
    "assembler": {"ask retrieve", "ask rerank"},
}


@asynccontextmanager
async def client(server: ComposeNats, user: str) -> AsyncIterator[tuple[Client, list[str]]]:
    """A connection, and the server's refusals."""
    refused: list[str] = []

    async def told(error: Exception) -> None:
        refused.append(str(error))

    connection = await nats.connect(
        server.url(user), error_cb=told, allow_reconnect=False, inbox_prefix=inbox(user)
    )
    try:
        yield connection, refused
    finally:
        await connection.close()


async def refusals(server: ComposeNats, user: str, published: Iterable[str]) -> set[str]:
    """Which of the subjects the server refuses; the client tells of them in order."""
    async with client(server, user) as (connection, refused):
        wanted = set(published)
        for subject in (*wanted, LAST):
            await connection.publish(subject, b"{}")
        await eventually(lambda: _names(refused, LAST))
        return {subject for subject in wanted if _names(refused, subject)}


def _names(refused: list[str], subject: str) -> bool:
    return any(f'"{subject.lower()}"' in line for line in refused)


@pytest.mark.parametrize("user", SERVICES)
async def test_a_service_publishes_its_own_and_nothing_else(server: ComposeNats, user: str) -> None:
    refused = await refusals(server, user, EVENTS.values())
    assert {name for name, subject in EVENTS.items() if subject not in refused} == MAY[user]


@pytest.mark.parametrize("user", SERVICES)
async def test_a_service_passes_its_check(server: ComposeNats, user: str) -> None:
    bus = await connect(server.url(user), service=user)
    try:
        await bus.check(Settings())
        await bus.ready()
    finally:
        await bus.close()


@pytest.mark.parametrize("user", SERVICES)
async def test_a_service_reads_no_inbox_but_its_own(server: ComposeNats, user: str) -> None:
    other = "embedder" if user == "gateway" else "gateway"
    async with client(server, user) as (mine, refused), client(server, "operator") as (operator, _):
        own = await mine.subscribe(f"{inbox(user)}.x")
        foreign = [
            await mine.subscribe(subject)
            for subject in (f"{inbox(other)}.x", f"{inbox(other)}.>", "_INBOX.>", "ev.v1.>", ">")
        ]
        await eventually(lambda: len(refused) == len(foreign))
        await operator.publish(f"{inbox(other)}.x", b"not yours")
        await operator.publish(subjects.messages("acme", "chat-1"), b"not yours")
        await operator.publish(f"{inbox(user)}.x", b"yours")
        await operator.flush()
        assert (await own.next_msg(timeout=5)).data == b"yours"
        assert [s.pending_msgs for s in foreign] == [0] * len(foreign)


async def test_who_answers_a_method_answers_who_asked_and_nobody_else(server: ComposeNats) -> None:
    async with client(server, "assembler") as (assembler, refused), client(server, "gateway") as (gateway, _):
        others = await gateway.subscribe(f"{inbox('gateway')}.others")
        asked = await assembler.subscribe(ASSEMBLE.subject, queue=ASSEMBLE.name)
        # Twice: the client writes a PING at once, before the SUB that waits in its buffer.
        await assembler.flush()
        await assembler.flush()
        request = asyncio.create_task(gateway.request(ASSEMBLE.subject, b"plan", timeout=5))
        message = await asked.next_msg(timeout=5)
        await assembler.publish(f"{inbox('gateway')}.others", b"forged")
        await message.respond(b"planned")
        assert (await request).data == b"planned"
        await message.respond(b"once more")
        await eventually(lambda: len(refused) == 2)
        await gateway.flush()
        assert others.pending_msgs == 0


@pytest.mark.parametrize("user", sorted(SERVICES.keys() - {"assembler"}))
async def test_nobody_answers_in_another_ones_place(server: ComposeNats, user: str) -> None:
    async with client(server, user) as (mine, refused), client(server, "gateway") as (gateway, _):
        await mine.subscribe(ASSEMBLE.subject, queue=ASSEMBLE.name)
        await mine.subscribe(ASSEMBLE.subject)
        await eventually(lambda: len(refused) == 2)
        with pytest.raises(NoRespondersError):
            await gateway.request(ASSEMBLE.subject, b"plan", timeout=5)


@pytest.mark.parametrize("said", [{}, {"user": "gateway", "pass": "wrong"}, {"user": "nobody", "pass": ""}])
async def test_without_the_password_nobody_comes_in(server: ComposeNats, said: dict[str, str]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        assert (await reader.readline()).startswith(b"INFO ")
        writer.write(b"CONNECT " + json.dumps(said).encode() + b"\r\nPING\r\n")
        assert b"Authorization Violation" in await reader.readline()
    finally:
        writer.close()
        await writer.wait_closed()
