"""Small events, and waiting for what the bus does by itself."""

import asyncio
import random
from collections.abc import Callable

from nats.js import JetStreamContext

from shared.bus import Bus
from shared.bus.codec import decode
from shared.contracts.base import Kind, Role
from shared.contracts.events import DeadLetter, MessagesRecorded, RecordedMessage, Unit


def recorded(session: str, text: str = "hello", at: float = 1.0) -> MessagesRecorded:
    unit = Unit(unit=0, kind=Kind.USER, text=text)
    message = RecordedMessage(address="0" * 32, role=Role.USER, units=(unit,))
    return MessagesRecorded(tenant="t", session=session, at=at, messages=(message,))


def incompressible(characters: int) -> str:
    """Stays over its own length after JSON and zstd; from a fixed seed."""
    draw = random.Random(1)
    return "".join(chr(draw.randrange(0x4E00, 0x9FFF)) for _ in range(characters))


async def until(condition: Callable[[], bool], timeout_s: float = 15) -> None:
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def unsettled(js: JetStreamContext, stream: str = "MESSAGES", durable: str = "chunker") -> int:
    info = await js.consumer_info(stream, durable)
    return int((info.num_pending or 0) + (info.num_ack_pending or 0))


async def all_settled(js: JetStreamContext, timeout_s: float = 15) -> None:
    async with asyncio.timeout(timeout_s):
        while await unsettled(js):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def dead_letters(bus: Bus) -> list[DeadLetter]:
    state = (await bus.js.stream_info("DEADLETTERS")).state
    return [
        decode(DeadLetter, (await bus.js.get_msg("DEADLETTERS", seq)).data or b"")
        for seq in range(1, state.last_seq + 1)
    ]
