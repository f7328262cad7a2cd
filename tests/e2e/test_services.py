"""Every service as a process of its own, as in production: one bus, one store, two embedders."""

import asyncio
import io
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import openai
import pytest
from rich.console import Console

from backscroll.demo.conversation import demo_conversation
from backscroll.demo.facts import FACTS
from backscroll.demo.play import play
from backscroll.engine import create_engine, engine_of
from backscroll.engine.engine import Engine
from shared.bus import provision
from shared.bus.embedded import NatsServer
from shared.settings import Settings
from tests.support.embedding_server import EmbeddingServer, embedding_server
from tests.support.processes import Child, health_port, service
from tests.support.qdrant_http import serve_qdrant
from tests.support.served import free_port, served

WINDOW = 2048
SERVICES = ("chunker", "embedder", "embedder", "retriever", "assembler", "gateway")


@dataclass
class Deployment:
    url: str
    engine: Engine
    children: list[Child]
    health_ports: list[int]


@pytest.fixture
def embeddings() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture
def deployment(tmp_path: Path, embeddings: EmbeddingServer) -> Iterator[Deployment]:
    app = create_engine(WINDOW)
    with ExitStack() as stack:
        nats = asyncio.run(NatsServer.start(tmp_path / "nats"))
        stack.callback(lambda: asyncio.run(nats.stop()))
        qdrant_url, _ = stack.enter_context(serve_qdrant(tmp_path / "qdrant"))
        engine_url = stack.enter_context(served(app))
        port = free_port()
        settings = {
            "nats_url": nats.url,
            "qdrant_url": qdrant_url,
            "engine_url": f"{engine_url}/v1",
            "embed_url": embeddings.url,
            "embed_dim": embeddings.dim,
            "max_context": WINDOW,
            "port": port,
        }
        assert asyncio.run(provision(nats.url, Settings())) == []
        children = [service(name, settings) for name in SERVICES]
        for child in children:
            stack.callback(child.close)
        ports = [health_port(child) for child in children]
        yield Deployment(f"http://127.0.0.1:{port}/v1", engine_of(app), children, ports)


def test_six_processes_serve_a_long_conversation_and_end_cleanly(
    deployment: Deployment, embeddings: EmbeddingServer
) -> None:
    conversation = demo_conversation(WINDOW)
    result = asyncio.run(play(deployment.url, conversation, Console(file=io.StringIO()), questions=6))
    assert result.conversation_tokens > 12 * WINDOW
    assert (result.refused, deployment.engine.refusals) == ([], 0)
    assert [a.question.text for a in result.judged if not a.right] == []
    assert {a.reply.degraded for a in result.answered} == {""}

    with openai.OpenAI(base_url=deployment.url, api_key="none", max_retries=0) as client:
        fact = FACTS[0]
        asked = [*conversation.messages, {"role": "user", "content": fact.question.text}]
        raw = client.chat.completions.with_raw_response.create(model="demo-extractive", messages=asked)
        answer = raw.parse().choices[0].message.content
        assert all(part in answer for part in fact.question.expected)
    record = httpx.get(f"{deployment.url}/records/{raw.headers['x-backscroll-record']}").json()
    assert record["session"] == raw.headers["x-backscroll-session"]
    assert record["prompt_tokens"] <= record["limit"] < WINDOW
    assert fact.said in str(record["prompt"])
    assert record["layout"]["block"]
    assert httpx.get(f"{deployment.url}/records/unknown").status_code == 404

    for port in deployment.health_ports:
        assert httpx.get(f"http://127.0.0.1:{port}/health/ready").json() == {"status": "ready"}
    assert len(set(embeddings.texts)) > 500
    for child in deployment.children:
        child.terminate()
    begun = time.monotonic()
    assert [child.ended(20) for child in deployment.children] == [0] * len(deployment.children)
    assert time.monotonic() - begun < 10
    assert [line for child in deployment.children for line in child.lines if '"level": "error"' in line] == []
