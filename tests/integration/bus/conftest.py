import socket

import pytest

from tests.support.nats import bus, nats_server, nats_url

__all__ = ["bus", "nats_server", "nats_url", "unused_port"]


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@pytest.fixture(autouse=True)
def short_fetches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A consumer stops when its fetch has ended."""
    monkeypatch.setattr("shared.bus.consume.FETCH_S", 0.2)
