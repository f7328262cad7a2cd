"""`backscroll up`, killed in the middle of ingestion and started again on the same data."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import openai
import pytest

from services.embedder.vectors import GROUP_CHUNKS
from shared.settings import Settings
from shared.store import open_store
from shared.store.port import Coverage
from tests.support.addresses import address_keys
from tests.support.embedding_server import EmbeddingServer, embedding_server
from tests.support.processes import Child, standalone, url_of

MESSAGES = 1200


def history() -> list[dict[str, Any]]:
    """Several events of text, each text once."""
    texts = [
        f"Note {n}: "
        + " ".join(f"Shelf {n * 31 + k} holds crate {(n + k) * 7919 % 9973}." for k in range(20))
        for n in range(MESSAGES)
    ]
    texts[40] = "The combination of the bicycle lock is 9174."
    texts.append("What is the combination of the bicycle lock?")
    return [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(texts)]


@pytest.fixture
def embeddings() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path, embeddings: EmbeddingServer) -> dict[str, Any]:
    return {
        "data_dir": tmp_path,
        "port": 0,
        "embed_url": embeddings.url,
        "embed_dim": embeddings.dim,
        "max_context": 4096,
    }


def ask(child: Child, messages: list[dict[str, Any]]) -> str:
    with openai.OpenAI(base_url=url_of(child), api_key="none", max_retries=0) as client:
        completion = client.chat.completions.create(model="demo-extractive", messages=messages)
    return completion.choices[0].message.content or ""


def ask_in_vain(child: Child, messages: list[dict[str, Any]]) -> None:
    with suppress(openai.APIConnectionError):
        ask(child, messages)


def wait_until(enough: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not enough():
        assert time.monotonic() < deadline
        time.sleep(0.005)


async def stored(
    settings: dict[str, Any], messages: list[dict[str, Any]]
) -> tuple[set[int], Counter[int], Coverage]:
    """Messages without a marker, chunks by message, and how many of the chunks have a vector."""
    store = open_store(Settings(**settings), Settings().embed_model, settings["embed_dim"])
    await store.ensure()
    keys = address_keys(messages)
    try:
        chunks = Counter(chunk.address for chunk in await store.chunks("default", keys))
        return await store.missing("default", keys), chunks, await store.coverage("default", keys)
    finally:
        await store.close()


def test_a_kill_loses_nothing_and_pays_at_most_one_batch_twice(
    settings: dict[str, Any], embeddings: EmbeddingServer
) -> None:
    messages = history()
    embeddings.delay_s = 0.02
    with closing(standalone(settings)) as first:
        url_of(first)
        asking = threading.Thread(target=ask_in_vain, args=(first, messages))
        asking.start()
        wait_until(lambda: len(embeddings.texts) >= MESSAGES // 2)
        first.kill()
        asking.join(10)
    assert len(embeddings.texts) < MESSAGES
    embeddings.delay_s = 0
    with closing(standalone(settings)) as second:
        assert "9174" in ask(second, messages)
        # What the killed process had fetched is delivered again after `ack_wait`, 30 s.
        wait_until(lambda: len(set(embeddings.texts)) > MESSAGES)
        second.terminate()
        assert second.ended(10) == 0
    missing, chunks, coverage = asyncio.run(stored(settings, messages))
    assert missing == set()
    assert set(chunks.values()) == {1}
    assert coverage == Coverage(len(messages), len(messages))
    known = {m["content"] for m in messages}
    again = sum(times - 1 for text, times in Counter(embeddings.texts).items() if text in known)
    # The question is embedded once more as a query.
    assert again <= GROUP_CHUNKS + 1
