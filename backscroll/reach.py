"""The bus that an operator's command works on."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import typer
from pydantic import ValidationError
from rich.console import Console

from shared.bus import Bus, connect
from shared.bus.embedded import URL
from shared.errors import BackscrollError, PermanentFault
from shared.settings import Settings
from shared.telemetry import configure_logging

T = TypeVar("T")
console = Console()


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
    """To its end on the bus; what goes wrong on purpose is said in one line, exit code 1."""
    configure_logging("error")

    async def with_bus() -> T:
        settings = Settings() if data is None else Settings(data_dir=data)
        async with operator_bus(settings) as bus:
            return await work(bus, settings)

    try:
        return asyncio.run(with_bus())
    except (BackscrollError, ValidationError) as error:
        console.print(f"[red]{error}[/red]", soft_wrap=True)
        raise typer.Exit(1) from error
