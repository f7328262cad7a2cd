"""What is found out about a real engine by itself: its window, its way to count, its words."""

import os
import subprocess
import sys
from collections.abc import Callable

import httpx
import pytest

from services.gateway.upstream.overflow import parse_overflow
from tests.engine.chat import as_items, history

pytestmark = pytest.mark.timeout(600)

WINDOW = 4096
LONG = history(40)
"""More than two windows."""


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1/responses"])
def test_its_refusal_is_recognised_and_its_numbers_are_read(engine: httpx.Client, path: str) -> None:
    asked = {"messages": LONG, "max_tokens": 4}
    if path == "/v1/messages":
        asked = {"messages": LONG[1:], "system": LONG[0]["content"], "max_tokens": 4}
    if path == "/v1/responses":
        asked = {"input": as_items(LONG), "max_output_tokens": 4}
    reply = engine.post(path, json=asked)
    counted = engine.post("/v1/chat/completions/input_tokens", json={"messages": LONG}).json()
    assert reply.status_code == 400
    told = parse_overflow(reply.content)
    assert told is not None, reply.text
    assert (told.window, told.exact) == (WINDOW, True)
    assert told.tokens == counted["input_tokens"] > 2 * WINDOW


def test_the_doctor_finds_window_counter_and_wording(
    engine_url: str, tmp_path_factory: pytest.TempPathFactory, figure: Callable[[str], None]
) -> None:
    settings = {
        "BACKSCROLL_ENGINE_URL": f"{engine_url}/v1",
        "BACKSCROLL_DATA_DIR": str(tmp_path_factory.mktemp("doctor")),
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BACKSCROLL_")}
    command = [sys.executable, "-m", "backscroll.cli", "doctor", "--probe-overflow"]
    done = subprocess.run(command, env={**kept, "COLUMNS": "300", **settings}, capture_output=True, text=True)
    figure(done.stdout)
    assert "counting: llamacpp;" in done.stdout
    assert f"window: {WINDOW} tokens, told by /props" in done.stdout
    assert "overflow: refused with 400 in known words" in done.stdout
