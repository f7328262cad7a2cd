import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from backscroll.cli import app
from shared.bus import Bus, connect, provision
from shared.settings import Settings
from tests.support.nats import nats_server, nats_url

__all__ = ["nats_server", "nats_url"]

Work = Callable[[Bus], Coroutine[Any, Any, Any]]


class Operator:
    """Commands, and what happens between them; each runs an event loop of its own."""

    def __init__(self, url: str) -> None:
        self.url = url

    def command(self, *arguments: str, answer: str = "") -> Result:
        return CliRunner().invoke(app, arguments, input=answer, env={"COLUMNS": "200"})

    def on_bus(self, work: Work) -> Any:
        async def with_bus() -> Any:
            bus = await connect(self.url, service="test")
            try:
                return await work(bus)
            finally:
                await bus.close()

        return asyncio.run(with_bus())


@pytest.fixture
def operator(nats_url: str, monkeypatch: pytest.MonkeyPatch) -> Operator:
    assert asyncio.run(provision(nats_url, Settings())) == []
    monkeypatch.setenv("BACKSCROLL_NATS_URL", nats_url)
    return Operator(nats_url)
