"""Handing a durable its events once more."""

from contextlib import aclosing
from dataclasses import dataclass

from shared.bus import Bus
from shared.bus.stored import Range, stored
from shared.bus.subjects import DURABLES, STREAM_SUBJECTS
from shared.bus.unavailable import unavailable
from shared.errors import PermanentFault

SERVER = (2, 14)
"""The first nats-server that can. A durable that is deleted and made anew to begin elsewhere is configured to
another beginning, and services refuse to start on it."""


@dataclass(frozen=True)
class Reset:
    stream: str
    durable: str
    first: int
    """Sequence from which on events are delivered again."""
    again: int
    """Events, those that were never delivered included."""
    waiting: int
    """Of these, events that are not settled anyway."""


async def planned(bus: Bus, durable: str, within: Range) -> Reset:
    """What a reset would do. Raises `PermanentFault` for a durable that is none of ours."""
    stream = next((d.stream for d in DURABLES if d.name == durable), None)
    if stream is None:
        raise PermanentFault(f"There is no durable {durable}: {', '.join(d.name for d in DURABLES)}.")
    server = bus.broker.connection.connected_server_version
    if (server.major, server.minor) < SERVER:
        raise PermanentFault("This needs nats-server 2.14 or newer.")
    first = again = 0
    async with aclosing(stored(bus.js, stream, STREAM_SUBJECTS[stream], within)) as messages:
        async for message in messages:
            first, again = message.sequence, message.left + 1
            break
    with unavailable("look at a durable"):
        info = await bus.js.consumer_info(stream, durable)
    return Reset(stream, durable, first, again, int(info.num_pending or 0) + int(info.num_ack_pending or 0))


async def reset(bus: Bus, what: Reset) -> None:
    with unavailable("reset a durable"):
        await bus.js.reset_consumer(what.stream, what.durable, seq=what.first)
