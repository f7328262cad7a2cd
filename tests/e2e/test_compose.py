"""The services as compose.yaml starts them: its commands, its environment, its NATS with a user each."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from backscroll.engine import create_engine
from shared.bus.permissions import SERVICES
from tests.support.compose_run import USERS, Compose, password_of
from tests.support.dockerfile import stages
from tests.support.embedding_server import EmbeddingServer, embedding_server
from tests.support.processes import Child
from tests.support.qdrant_http import serve_qdrant
from tests.support.served import free_port, served
from tests.support.talk import BOILER_QUESTION, LOCK_QUESTION, assistant, talk, user

WINDOW = 2048


@pytest.fixture
def embeddings() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture
def run(tmp_path: Path, embeddings: EmbeddingServer) -> Iterator[Compose]:
    with ExitStack() as stack:
        qdrant, _ = stack.enter_context(serve_qdrant(tmp_path / "qdrant-stand-in"))
        engine = stack.enter_context(served(create_engine(WINDOW)))
        addresses = {"qdrant:6333": qdrant, "engine:8500": engine, "embedding:8080/v1": embeddings.url}
        hosts = {name: url.removeprefix("http://") for name, url in addresses.items()}
        given = {
            "BACKSCROLL_EMBED_URL": "http://embedding:8080/v1",
            "BACKSCROLL_EMBED_DIM": str(embeddings.dim),
            "QDRANT_API_KEY": "1e5qdrant",
        }
        yield stack.enter_context(closing(Compose(tmp_path, hosts, given)))


def healthy(port: int) -> bool:
    """By the image's own check."""
    (check,) = stages()[-1].of("HEALTHCHECK")
    command = json.loads(check.partition("CMD ")[2])
    told = {**os.environ, "BACKSCROLL_HEALTH_PORT": str(port)}
    return subprocess.run(command, env=told, capture_output=True).returncode == 0


def test_a_conversation_through_everything(run: Compose, tmp_path: Path) -> None:
    nats = run.start_nats()
    provision = run.start("provision")
    assert provision.ended(30) == 0, provision.lines
    ports = {name: free_port() for name in (*SERVICES, "http")}
    keys = run.start("demo-key")
    assert keys.ended(30) == 0, keys.lines
    key = (tmp_path / "demo" / "key").read_text().strip()
    children = {name: run.start(name, health_port=ports[name], port=ports["http"]) for name in SERVICES}
    for child in children.values():
        child.wait_for(lambda line: '"service_started"' in line)
    assert all(healthy(ports[name]) for name in SERVICES)
    assert not healthy(free_port())
    base = f"http://127.0.0.1:{ports['http']}/v1"
    converse(base, key)
    for child in children.values():
        child.terminate()
    assert [child.ended(30) for child in children.values()] == [0] * len(children)
    assert [line for line in nats.lines if "iolation" in line] == []
    told = [line for child in children.values() for line in child.lines]
    assert {json.loads(line)["level"] for line in told} == {"info"}
    assert not re.search("|".join([key, *map(password_of, USERS), "1e5qdrant"]), "".join(told))


def converse(base: str, key: str) -> None:
    messages = talk("compose")
    with openai.OpenAI(base_url=base, api_key=key, max_retries=0) as client:
        messages.append(user(LOCK_QUESTION))
        answer, headers = asked(client, messages)
        assert "9174" in answer
        messages += [assistant(answer), user(BOILER_QUESTION)]
        answer, headers = asked(client, messages)
        assert "RB-2209" in answer
    bearer = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=base, headers=bearer, timeout=30) as http:
        record = http.get(f"/records/{headers['x-backscroll-record']}").json()
        assert record["prompt_tokens"] <= record["limit"] < WINDOW
        session = headers["x-backscroll-session"]
        receipt = http.delete(f"/sessions/{session}").json()
        assert receipt["texts"] == len(messages)
        assert receipt["records"] == 2
        assert http.get(f"/records/{headers['x-backscroll-record']}").status_code == 404
    assert httpx.get(f"{base}/models").status_code == 401


def asked(client: openai.OpenAI, messages: list[dict[str, Any]]) -> tuple[str, Any]:
    raw = client.chat.completions.with_raw_response.create(model="demo-extractive", messages=messages)  # type: ignore[arg-type]
    assert raw.headers["x-backscroll-mode"] == "assembled"
    assert "x-backscroll-degraded" not in raw.headers
    return raw.parse().choices[0].message.content or "", raw.headers


def test_a_gateway_without_a_key_says_what_to_do(run: Compose) -> None:
    run.start_nats()
    assert run.start("provision").ended(30) == 0
    gateway = run.start("gateway", port=free_port(), health_port=free_port())
    assert gateway.ended(30) == 1
    told = [json.loads(line) for line in gateway.lines]
    assert [line["event"] for line in told] == ["service_failed"]
    assert "backscroll keys add" in told[0]["reason"]


def test_what_differs_ends_a_service_with_a_line(run: Compose) -> None:
    run.start_nats()
    chunker: Child = run.start("chunker", health_port=free_port())
    assert chunker.ended(30) == 1
    (line,) = [json.loads(line) for line in chunker.lines]
    assert "stream MESSAGES does not exist" in line["reason"]
