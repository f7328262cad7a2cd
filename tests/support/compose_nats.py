"""The NATS server that compose.yaml describes: the real configuration, on free ports and in a directory."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from shared.bus.embedded import binary
from shared.bus.permissions import OPERATOR, SERVICES
from tests.support.served import free_port

CONFIG = Path(__file__).parents[2] / "deploy" / "nats" / "nats.conf"
STARTING_S = 20.0
USERS = (*SERVICES, OPERATOR)


class ComposeNats:
    def __init__(self, port: int) -> None:
        self.port = port

    def url(self, user: str, password: str | None = None) -> str:
        return f"nats://{user}:{password or password_of(user)}@127.0.0.1:{self.port}"


def password_of(user: str) -> str:
    """Begins with a digit, as a random one can: NATS reads a bare one as a number."""
    return f"1e5{user}"


@contextmanager
def compose_nats(data: Path) -> Iterator[ComposeNats]:
    port, monitor = free_port(), free_port()
    passwords = {f"NATS_{user.upper()}_PASSWORD": f'"{password_of(user)}"' for user in USERS}
    command = [str(binary()), "-c", str(CONFIG), "-a", "127.0.0.1", "-p", str(port)]
    command += ["-m", str(monitor), "-sd", str(data)]
    with (data / "nats-server.log").open("wb") as log:
        server = subprocess.Popen(command, env={**os.environ, **passwords}, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + STARTING_S
        while not _healthy(monitor):
            if server.poll() is not None or time.monotonic() > deadline:
                raise AssertionError((data / "nats-server.log").read_text()[-2000:])
            time.sleep(0.02)
        yield ComposeNats(port)
    finally:
        server.terminate()
        server.wait(10)


def _healthy(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/healthz").is_success
    except httpx.TransportError:
        return False
