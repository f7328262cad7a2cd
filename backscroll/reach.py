"""The bus that an operator's command works on."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from backscroll.work import finish, settings_of
from shared.bus import Bus, connect
from shared.bus.embedded import URL
from shared.errors import PermanentFault
from shared.settings import Settings
from shared.telemetry import configure_logging

T = TypeVar("T")


@asynccontextmanager
async def operator_bus(settings: Settings) -> AsyncIterator[Bus]:
    """The server that is set, or that of the `backscroll up` whose data directory is set."""
    bus = await connect(bus_url(settings), service="operator")
    try:
        yield bus
    finally:
        await bus.close()


def bus_url(settings: Settings) -> str:
    """Raises `PermanentFault` where nothing runs."""
    if settings.nats_url is not None:
        return settings.nats_url
    told = settings.data_dir / "nats" / URL
    if not told.exists():
        raise PermanentFault(
            f"No `backscroll up` runs on {settings.data_dir}. Start it, name its data directory with --data, "
            f"or set BACKSCROLL_NATS_URL."
        )
    return told.read_text()


def run(work: Callable[[Bus, Settings], Awaitable[T]], data: Path | None) -> T:
    """To its end on the bus."""
    configure_logging("error")
    settings = settings_of(data_dir=data)

    async def with_bus() -> T:
        async with operator_bus(settings) as bus:
            return await work(bus, settings)

    return finish(with_bus())
