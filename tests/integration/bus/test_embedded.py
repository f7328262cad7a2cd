"""The server as a child process: how it starts, ends, and comes back."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from shared.bus import CHUNKER, Bus, Delivery, connect, provision
from shared.bus.embedded import NatsServer
from shared.contracts.events import MessagesRecorded
from shared.errors import DependencyUnavailable
from shared.settings import Settings
from tests.integration.bus.events import all_settled, recorded, until


def port_of(server: NatsServer) -> int:
    return int(server.url.rsplit(":", 1)[1])


async def test_messages_survive_a_kill_and_services_go_on(tmp_path: Path) -> None:
    server = await NatsServer.start(tmp_path)
    await provision(server.url, Settings())
    bus = await connect(server.url, service="test")
    await bus.tips.put("aa", b"tip")
    await bus.publish_many(recorded(f"s{i}") for i in range(10))
    got: list[str] = []

    async def handler(batch: list[Delivery[MessagesRecorded]]) -> None:
        got.extend(d.event.session for d in batch)

    server.process.kill()
    server.process.wait()
    await until(lambda: not bus.is_connected)
    for refused in (bus.publish(recorded("lost")), bus.ready(), bus.tips.put("aa", b"")):
        with pytest.raises(DependencyUnavailable) as error:
            await refused
        assert error.value.part == "bus_unavailable"

    again = await NatsServer.start(tmp_path, port_of(server))
    await until(lambda: bus.is_connected)
    await bus.check(Settings())
    await bus.consume(CHUNKER, handler)
    await bus.publish(recorded("after"))
    await all_settled(bus.js)
    assert sorted(got) == sorted([f"s{i}" for i in range(10)] + ["after"])
    assert await bus.tips.get_many(["aa"]) == {"aa": b"tip"}
    await bus.close()
    await again.stop()


async def test_a_running_consumer_goes_on_after_a_restart(tmp_path: Path) -> None:
    server = await NatsServer.start(tmp_path)
    await provision(server.url, Settings())
    bus: Bus = await connect(server.url, service="test")
    got: list[str] = []

    async def handler(batch: list[Delivery[MessagesRecorded]]) -> None:
        got.extend(d.event.session for d in batch)

    await bus.consume(CHUNKER, handler)
    await bus.publish(recorded("before"))
    await until(lambda: got == ["before"])
    server.process.kill()
    server.process.wait()
    await until(lambda: not bus.is_connected)
    again = await NatsServer.start(tmp_path, port_of(server))
    await until(lambda: bus.is_connected)
    await bus.publish(recorded("after"))
    await until(lambda: "after" in got)
    await bus.close()
    await again.stop()


async def test_it_says_why_it_does_not_start(nats_server: NatsServer, tmp_path: Path) -> None:
    with pytest.raises(DependencyUnavailable, match="address already in use"):
        await NatsServer.start(tmp_path, port_of(nats_server))


@pytest.mark.skipif(sys.platform != "linux", reason="prctl")
async def test_it_does_not_outlive_a_parent_that_is_killed(tmp_path: Path) -> None:
    program = (
        "import asyncio, pathlib, sys\n"
        "from shared.bus.embedded import NatsServer\n"
        "async def main():\n"
        "    server = await NatsServer.start(pathlib.Path(sys.argv[1]))\n"
        "    print(server.process.pid, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    child = int(await parent.stdout.readline())
    assert running(child)
    parent.send_signal(signal.SIGKILL)
    await parent.wait()
    await until(lambda: not running(child))


def running(pid: int) -> bool:
    """A zombie, which waits for whoever adopted it, is not running."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
