"""The real gateway on a real socket, with a bus that holds nothing or takes its time."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from services.gateway.bootstrap import gateway_app
from shared.contracts.base import Contract
from shared.errors import DependencyUnavailable
from shared.service import serving
from shared.settings import Settings
from tests.support.pipeline import MemoryState


class NoKeys:
    async def all(self) -> dict[str, bytes]:
        return {}


@dataclass
class IdleBus:
    """Publishing goes nowhere; nobody assembles, after `assemble_s`."""

    tips: MemoryState = field(default_factory=MemoryState)
    erased: MemoryState = field(default_factory=MemoryState)
    keys: NoKeys = field(default_factory=NoKeys)
    published: list[Contract] = field(default_factory=list)
    assemble_s: float = 0.0
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a call is given up by its caller."""

    async def publish(self, event: Contract) -> None:
        self.published.append(event)

    async def publish_many(self, events: Iterable[Contract]) -> None:
        self.published.extend(events)

    async def call(self, _method: object, _request: object, *, timeout_s: float) -> Any:
        try:
            await asyncio.sleep(self.assemble_s)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        raise DependencyUnavailable("assembler_unavailable", "nobody is there")

    async def ready(self) -> None: ...


@dataclass
class Running:
    url: str
    bus: IdleBus
    http: httpx.AsyncClient

    async def metric(self, name: str) -> float:
        lines = (await self.http.get("/metrics")).text.splitlines()
        return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(name + " ")), 0.0)


@asynccontextmanager
async def gateway(settings: Settings) -> AsyncIterator[Running]:
    bus = IdleBus()
    async with (
        gateway_app(settings, bus) as app,  # type: ignore[arg-type]
        serving(app, "127.0.0.1", 0) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20) as http,
    ):
        yield Running(f"http://127.0.0.1:{port}", bus, http)
