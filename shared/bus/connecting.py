"""Getting a bus, and making what must be on it."""

from shared.bus import provisioning
from shared.bus.broker import Bus
from shared.bus.unavailable import unavailable
from shared.settings import Settings


async def connect(url: str, *, service: str) -> Bus:
    """A started `Bus`. Its streams are not looked at: that is `Bus.check`."""
    bus = Bus(url, service=service)
    await bus.start()
    return bus


async def provision(url: str, settings: Settings, *, update: bool = False) -> list[str]:
    """Make the streams, durables and buckets that are missing; return what differs in those that exist.

    `update` changes what differs and may be changed.
    """
    bus = await connect(url, service="provision")
    try:
        with unavailable("provision"):
            return await provisioning.ensure(bus.js, provisioning.expected(settings), update)
    finally:
        await bus.close()
