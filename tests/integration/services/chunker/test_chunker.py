"""The chunker on a real nats-server: in this process, and as a process of its own."""

import asyncio
import os
import signal
import sys

import httpx
import orjson

from services.chunker.bootstrap import limits, start
from services.chunker.handlers import Handlers
from shared.bus import TERMS, Bus, Delivery
from shared.contracts.base import Kind, Role
from shared.contracts.events import ChunksCreated, MessagesRecorded, RecordedMessage, Unit
from shared.settings import Settings


def recorded(count: int, text: str = "hello\n") -> MessagesRecorded:
    unit = Unit(unit=0, kind=Kind.USER, text=text)
    return MessagesRecorded(
        tenant="t",
        session="s",
        at=1.0,
        messages=tuple(
            RecordedMessage(address=f"{number:032x}", role=Role.USER, units=(unit,))
            for number in range(count)
        ),
    )


class Received:
    def __init__(self) -> None:
        self.addresses: list[str] = []
        self._more = asyncio.Condition()

    async def __call__(self, batch: list[Delivery[ChunksCreated]]) -> None:
        async with self._more:
            self.addresses += [m.address for d in batch for m in d.event.messages]
            self._more.notify_all()

    async def wait_for(self, count: int) -> None:
        async with asyncio.timeout(20), self._more:
            await self._more.wait_for(lambda: len(self.addresses) >= count)


async def test_messages_become_chunks_once(bus: Bus) -> None:
    received = Received()
    await bus.consume(TERMS, received)
    await start(Settings(), bus)
    event = recorded(500, "a line of text\n" * 100)
    await bus.publish(event)
    await received.wait_for(500)
    # A redelivery publishes the same bytes, which the stream keeps once.
    before = await bus.js.stream_info("CHUNKS")
    await Handlers(bus, limits(Settings())).messages_recorded([Delivery(event, "MESSAGES", 2, 2)])
    after = await bus.js.stream_info("CHUNKS")
    assert after.state.messages == before.state.messages > 1
    assert received.addresses == [m.address for m in event.messages]


async def test_a_process_of_its_own_chunks_reports_and_ends(bus: Bus, nats_url: str) -> None:
    received = Received()
    await bus.consume(TERMS, received)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "services.chunker"),
        env={**os.environ, "BACKSCROLL_NATS_URL": nats_url},
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(30):
            while (line := orjson.loads(await process.stderr.readline()))["event"] != "service_started":
                pass
        await bus.publish(recorded(3))
        await received.wait_for(3)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{line['health_port']}") as client:
            assert (await client.get("/health/live")).json() == {"status": "live"}
            assert (await client.get("/health/ready")).json() == {"status": "ready"}
            assert "backscroll_chunks_total 3.0" in (await client.get("/metrics")).text
            await bus.js.delete_consumer("MESSAGES", "chunker")
            assert (await client.get("/health/ready")).status_code == 503
            assert (await client.get("/health/live")).status_code == 200
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
