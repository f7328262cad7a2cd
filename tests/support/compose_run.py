"""What compose.yaml starts, as processes: its commands, its environment and its files, on this machine.

A host becomes 127.0.0.1 with a free port, a mounted path what is mounted there, a named volume a directory.
What of a container this leaves out: the user, the root that cannot be written, the limits.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from shared.bus.embedded import binary
from shared.bus.permissions import OPERATOR, SERVICES
from tests.support.compose import ROOT, compose
from tests.support.dockerfile import environment
from tests.support.processes import Child, started
from tests.support.served import free_port

PROGRAMS = {
    "python": [sys.executable],
    "backscroll": [sys.executable, "-m", "backscroll.cli"],
    "nats-server": [str(binary())],
    "sh": ["sh"],
}
USERS = (*SERVICES, OPERATOR)


def password_of(user: str) -> str:
    """Begins with a digit, as a random one can: NATS reads a bare one as a number."""
    return f"1e5{user}"


class Compose:
    """`addresses`: where the hosts of compose.yaml are, e.g. `{"qdrant:6333": "127.0.0.1:4711"}`."""

    def __init__(self, folder: Path, addresses: Mapping[str, str], given: Mapping[str, str]) -> None:
        passwords = {f"NATS_{user.upper()}_PASSWORD": password_of(user) for user in USERS}
        self._services: dict[str, Any] = compose({**passwords, **given})["services"]
        self._folder = folder
        self.nats_port = free_port()
        self._addresses = {"nats:4222": f"127.0.0.1:{self.nats_port}", **addresses}
        self._children: list[Child] = []

    def nats_url(self, user: str) -> str:
        return f"nats://{user}:{password_of(user)}@127.0.0.1:{self.nats_port}"

    def start(self, name: str, **changed: object) -> Child:
        """`changed`: settings in the place of what the file says, such as ports, which containers share."""
        service, paths = self._services[name], self._paths(name)
        given = {**environment(), **service.get("environment", {})}
        given |= {f"BACKSCROLL_{key.upper()}": str(value) for key, value in changed.items()}
        variables = {key: self._here(value, paths) for key, value in given.items() if key != "PATH"}
        variables["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        program, *arguments = [*service.get("entrypoint", []), *service["command"]]
        command = [*PROGRAMS[program], *(self._here(a, paths) for a in arguments), *self._own(name)]
        child = Child(command, environment=variables)
        self._children.append(child)
        return child

    def start_nats(self) -> Child:
        """Until it is healthy, by the address that compose.yaml asks."""
        server = self.start("nats")
        self._monitor = int(
            server.wait_for(lambda line: "Starting http monitor on" in line).rsplit(":", 1)[1]
        )
        check = self._services["nats"]["healthcheck"]["test"][-1].replace(":8222", f":{self._monitor}")
        server.wait_for(lambda line: "Server is ready" in line)
        assert httpx.get(check).is_success
        return server

    def serve(self, name: str, **changed: object) -> Child:
        """A service, until it answers health checks."""
        child = self.start(name, **{"health_port": free_port(), **changed})
        child.wait_for(started)
        return child

    def close(self) -> None:
        for child in reversed(self._children):
            child.close()

    def _own(self, name: str) -> list[str]:
        return ["-a", "127.0.0.1", "-p", str(self.nats_port), "-m", "-1"] if name == "nats" else []

    def _paths(self, name: str) -> dict[str, str]:
        paths = {"/data": str(self._folder / f"data-{name}")}
        for volume in self._services[name].get("volumes", []):
            source, target, *_ = volume.split(":")
            paths[target] = str(ROOT / source if source.startswith(".") else self._folder / source)
        for path in paths.values():
            if not Path(path).exists():
                Path(path).mkdir(parents=True)
        return paths

    def _here(self, value: str, paths: Mapping[str, str]) -> str:
        for there, here in {**self._addresses, **paths}.items():
            value = value.replace(there, here)
        return value
