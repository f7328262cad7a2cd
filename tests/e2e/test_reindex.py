"""Another embedding model: its collection is filled from the texts of the one in use."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from shared.bus import provision
from shared.settings import Settings
from tests.support.embedding_server import EmbeddingServer, embedding_server
from tests.support.eventually import eventually
from tests.support.nats import nats_server, nats_url
from tests.support.processes import standalone, url_of
from tests.support.qdrant_http import serve_qdrant

__all__ = ["nats_server", "nats_url"]

MESSAGES = 41
FACTS = {
    "harbour": "The harbour master keeps the spare anchor in shed 41-B.",
    "bakery": "The bakery on Mill Lane orders its rye flour from Tarnholt.",
}
QUESTION = "In which shed does the harbour master keep the spare anchor?"


@pytest.fixture
def model() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


def with_filler(fact: str) -> list[dict[str, Any]]:
    """A fact, and so much after it that a window of 2,048 tokens does not reach back to it."""
    filler = [
        f"Note {n} about {fact[:11]}: " + f"plain words of filling {n} " * 20 for n in range(MESSAGES - 1)
    ]
    return [{"role": "assistant" if n % 2 else "user", "content": c} for n, c in enumerate([fact, *filler])]


def ask(url: str, session: str, messages: list[dict[str, Any]]) -> str:
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        answer: Any = client.chat.completions.create(
            model="demo-extractive", messages=messages, extra_headers={"X-Session-Id": session}
        )
    return str(answer.choices[0].message.content)


def command(*arguments: str, settings: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BACKSCROLL_")}
    given = {f"BACKSCROLL_{name.upper()}": str(value) for name, value in settings.items()}
    return subprocess.run(
        [sys.executable, "-m", "backscroll.cli", *arguments],
        env={**kept, **given, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@contextmanager
def up(settings: Mapping[str, Any]) -> Iterator[str]:
    with closing(standalone({"port": 0, "max_context": 2048, **settings})) as child:
        yield url_of(child)
        child.terminate()
        assert child.ended(20) == 0


def first(model: EmbeddingServer) -> dict[str, Any]:
    return {"embed_url": model.url, "embed_dim": model.dim, "embed_model": "first"}


async def test_a_data_directory_whose_backscroll_is_stopped(tmp_path: Path, model: EmbeddingServer) -> None:
    before = {**first(model), "data_dir": tmp_path}
    after = {**before, "embed_model": "second"}
    history = with_filler(FACTS["harbour"])
    with up(before) as url:
        ask(url, "s", history)
        await eventually(lambda: len(model.texts) >= len(history))
        refused = command("reindex", "--yes", settings=after)
        assert refused.returncode == 1
        assert "open already" in refused.stdout
    embedded = set(model.texts)
    model.texts.clear()
    assert command("reindex", settings=before).returncode == 1
    done = command("reindex", "--yes", settings=after)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{MESSAGES} messages copied" in done.stdout
    assert set(model.texts) <= embedded
    assert len(model.texts) == len(set(model.texts)) > 0
    again = command("reindex", "--yes", settings=after)
    assert "0 messages copied" in again.stdout
    model.texts.clear()
    with up(after) as url:
        assert "41-B" in ask(url, "s", [*history, {"role": "assistant", "content": "Noted."}, user(QUESTION)])
        await eventually(lambda: "Noted." in model.texts)
    assert not embedded & set(model.texts) - {QUESTION}


async def test_on_a_server_the_old_one_serves_meanwhile(
    tmp_path: Path, model: EmbeddingServer, nats_url: str
) -> None:
    assert await provision(nats_url, Settings()) == []
    with serve_qdrant(tmp_path / "qdrant") as (qdrant_url, _):
        before = {**first(model), "data_dir": tmp_path, "qdrant_url": qdrant_url, "nats_url": nats_url}
        after = {**before, "embed_model": "second"}
        histories = {session: with_filler(fact) for session, fact in FACTS.items()}
        asked = [*histories["harbour"], {"role": "assistant", "content": "Noted."}, user(QUESTION)]
        with up(before) as url:
            for session, history in histories.items():
                ask(url, session, history)
            await eventually(lambda: len(set(model.texts)) >= 2 * MESSAGES)
            done = command("reindex", "--yes", settings=after)
            assert done.returncode == 0, done.stdout + done.stderr
            assert f"{2 * MESSAGES} messages copied" in done.stdout
            erased = await asyncio.to_thread(httpx.delete, f"{url}/sessions/bakery")
            assert erased.json()["texts"] == MESSAGES
            assert "41-B" in ask(url, "harbour", asked)
        model.texts.clear()
        with up(after) as url:
            caught_up = command("reindex", "--yes", settings=after)
            assert f"{MESSAGES} messages left out: their session was erased" in caught_up.stdout
            assert "41-B" in ask(url, "harbour", asked)
        said = {message["content"] for history in histories.values() for message in history}
        assert not said & set(model.texts)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}
