"""What erasing needs is allowed to who does it, with the users that compose.yaml mounts."""

import asyncio

import pytest

from services.embedder.erase import Erasing
from shared.bus import ERASE, Bus, connect
from shared.contracts.events import ChunksCreated, ExchangeRecorded, MessagesRecorded
from shared.contracts.rpc import Erase
from tests.integration.bus.events import incompressible, recorded
from tests.support.compose_nats import ComposeNats
from tests.support.memory_store import MemoryStore

LARGE = incompressible(600_000)


async def opened(server: ComposeNats, user: str) -> Bus:
    return await connect(server.url(user), service=user)


async def test_the_embedder_erases_what_the_others_wrote(server: ComposeNats) -> None:
    gateway, chunker, embedder = [await opened(server, user) for user in ("gateway", "chunker", "embedder")]
    try:
        await gateway.publish(recorded("s", LARGE))
        await gateway.publish(ExchangeRecorded(tenant="t", session="s", record="r", at=1.0, body="{}"))
        await gateway.tips.put(
            "aa",
            b'{"length":1,"layout":{},"tokens":1,"exact":true,"ratio":1,'
            b'"built_at":1,"tenant":"t","session":"s"}',
        )
        await chunker.publish(ChunksCreated(tenant="t", session="s", at=1.0, messages=()))
        await embedder.serve(ERASE, Erasing(embedder, MemoryStore(), lambda: 1.0).erase)
        receipt = await gateway.call(ERASE, Erase(tenant="t", session="s"), timeout_s=20)
        told = (receipt.message_events, receipt.chunk_events, receipt.records, receipt.claims, receipt.tips)
        assert told == (1, 1, 1, 1, 1)
    finally:
        await asyncio.gather(*(bus.close() for bus in (gateway, chunker, embedder)))


async def sizes(bus: Bus) -> dict[str, int]:
    infos = await bus.js.streams_info()
    return {str(i.config.name): i.state.messages for i in infos if i.config.name != "KV_erased"}


@pytest.mark.parametrize("user", ["gateway", "chunker", "embedder"])
async def test_who_writes_can_look_and_take_back(server: ComposeNats, user: str) -> None:
    writer, operator = await opened(server, user), await opened(server, "operator")
    try:
        assert await writer.erased.era("t", user) == 0
        before = await sizes(operator)
        era = await operator.erased.erase("t", user, 1.0)
        assert await writer.erased.era("t", user) == era
        written: dict[str, tuple[str, MessagesRecorded | ChunksCreated | ExchangeRecorded]] = {
            "gateway": (
                "RECORDS",
                ExchangeRecorded(tenant="t", session=user, record="r", at=1.0, body=LARGE),
            ),
            "chunker": ("MESSAGES", recorded(user, LARGE)),
            "embedder": ("CHUNKS", ChunksCreated(tenant="t", session=user, at=1.0, messages=())),
        }
        stream, event = written[user]
        body, claim = await operator.claims.check_in(LARGE.encode())
        ack = await operator.js.publish(
            {"RECORDS": "ev.v1.i-t.i-s.record.i-r"}.get(stream, f"ev.v1.i-t.i-s.{stream.lower()}"),
            body,
            headers=claim,
        )
        await writer.sweeper.withdraw(stream, ack.seq, event, claim)
        assert await sizes(operator) == before
    finally:
        await asyncio.gather(writer.close(), operator.close())
