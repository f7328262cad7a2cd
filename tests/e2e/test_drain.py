"""A gateway that is told to end lets a running answer finish, as a rollout demands."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from shared.bus import provision
from shared.bus.embedded import NatsServer
from shared.settings import Settings
from tests.support.processes import Child, health_port, service
from tests.support.served import free_port, served


class Patient:
    """Begins an answer, and ends it when it is told to."""

    def __init__(self) -> None:
        self.go_on = False

    def app(self) -> Starlette:
        async def chat(_: Request) -> StreamingResponse:
            return StreamingResponse(self._events(), media_type="text/event-stream")

        async def models(_: Request) -> JSONResponse:
            return JSONResponse({"data": [{"id": "m", "max_model_len": 4096}]})

        return Starlette(
            routes=[Route("/v1/chat/completions", chat, methods=["POST"]), Route("/v1/models", models)]
        )

    async def _events(self) -> AsyncIterator[bytes]:
        yield b'data: {"choices":[{"delta":{"content":"first"}}]}\n\n'
        while not self.go_on:  # noqa: ASYNC110  (told from another thread)
            await asyncio.sleep(0.02)
        yield b'data: {"choices":[{"delta":{"content":"last"}}]}\n\n'
        yield b"data: [DONE]\n\n"


@pytest.fixture
def engine() -> Patient:
    return Patient()


@pytest.fixture
def gateway(tmp_path: Path, engine: Patient) -> Iterator[tuple[str, Child]]:
    with ExitStack() as stack:
        nats = asyncio.run(NatsServer.start(tmp_path / "nats"))
        stack.callback(lambda: asyncio.run(nats.stop()))
        assert asyncio.run(provision(nats.url, Settings())) == []
        port = free_port()
        engine_url = f"{stack.enter_context(served(engine.app()))}/v1"
        child = service("gateway", {"nats_url": nats.url, "engine_url": engine_url, "port": port})
        stack.callback(child.close)
        health_port(child)
        yield f"http://127.0.0.1:{port}/v1", child


def test_a_running_answer_is_finished(gateway: tuple[str, Child], engine: Patient) -> None:
    url, child = gateway
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Go on."}]}
    with httpx.stream("POST", f"{url}/chat/completions", json=body, timeout=60) as answer:
        parts = answer.iter_text()
        assert "first" in next(parts)
        child.terminate()
        child.wait_for(lambda line: "service_stopping" in line)
        engine.go_on = True
        rest = "".join(parts)
    assert "last" in rest
    assert rest.endswith("data: [DONE]\n\n")
    assert child.ended(within_s=30) == 0
