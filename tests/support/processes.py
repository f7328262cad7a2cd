"""Backscroll as an operator runs it: commands of their own, configured by the environment."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import IO, Any

STARTING_S = 60.0


class Child:
    """A command. `lines` is what it wrote, both outputs together."""

    def __init__(self, command: list[str], environment: Mapping[str, str]) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("BACKSCROLL_")}
        self._process = subprocess.Popen(
            command,
            env={**kept, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def _read(self, output: IO[str]) -> None:
        with output:
            self.lines += output

    def wait_for(self, found: Callable[[str], bool]) -> str:
        """The first line of this kind."""
        deadline = time.monotonic() + STARTING_S
        while time.monotonic() < deadline:
            if line := next(filter(found, list(self.lines)), None):
                return line
            if self._process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError("no such line:\n" + "".join(self.lines[-20:]))

    def kill(self) -> None:
        """`kill -9`."""
        self._process.kill()
        self._process.wait()
        self._reader.join(5)

    def terminate(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def ended(self, within_s: float) -> int:
        """The exit code."""
        code = self._process.wait(within_s)
        self._reader.join(5)
        return code

    def close(self) -> None:
        if self._process.poll() is None:
            self.kill()


def started(line: str) -> bool:
    return '"service_started"' in line


def service(name: str, settings: Mapping[str, Any]) -> Child:
    """`python -m services.<name>`"""
    return _ours([f"services.{name}"], settings)


def health_port(child: Child) -> int:
    """Of a service, once it has started."""
    return int(json.loads(child.wait_for(started))["health_port"])


def standalone(settings: Mapping[str, Any]) -> Child:
    """`backscroll up`"""
    return _ours(["backscroll.cli", "up"], settings)


def _ours(arguments: list[str], settings: Mapping[str, Any]) -> Child:
    given = {f"BACKSCROLL_{name.upper()}": str(value) for name, value in settings.items()}
    return Child([sys.executable, "-m", *arguments], given)


def url_of(child: Child) -> str:
    """Of a `backscroll up` that is ready, with `/v1`."""
    return child.wait_for(lambda line: line.startswith("backscroll is ready at ")).split()[4]
