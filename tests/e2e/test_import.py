"""A million tokens in one first request: found by their terms while vectors are still being made."""

import random
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import openai
import pytest

from backscroll.demo.conversation import count_tokens
from tests.support.embedding_server import EmbeddingServer, embedding_server
from tests.support.processes import standalone, url_of

MESSAGES = 10_000
WORDS_A_MESSAGE = 53
GENEROUS_S = 60
"""Measured: 5 s of CPU in the process until the answer."""


def history() -> list[dict[str, Any]]:
    """Messages of made-up words, no text twice; one fact near the beginning."""
    rng = random.Random(5)
    syllables = ["ra", "ne", "to", "mi", "sel", "vor", "ka", "lin", "dus", "per", "gan", "fo"]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 3))) for _ in range(4000)]
    texts = [" ".join(rng.choices(words, k=WORDS_A_MESSAGE)) for _ in range(MESSAGES)]
    texts[300] = "The harbour master keeps the spare anchor in shed 41-B."
    texts.append("In which shed does the harbour master keep the spare anchor?")
    return [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(texts)]


@pytest.fixture
def embeddings() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


def test_a_million_tokens_at_once(tmp_path: Path, embeddings: EmbeddingServer) -> None:
    messages = history()
    assert count_tokens(messages[:100]) > 10_000
    embeddings.delay_s = 0.5
    settings = {
        "data_dir": tmp_path,
        "port": 0,
        "embed_url": embeddings.url,
        "embed_dim": embeddings.dim,
        "max_context": 32_768,
    }
    with closing(standalone(settings)) as child:
        with openai.OpenAI(base_url=url_of(child), api_key="none", max_retries=0) as client:
            begun = time.monotonic()
            raw = client.chat.completions.with_raw_response.create(model="demo-extractive", messages=messages)
            seconds = time.monotonic() - begun
        embedded = len(embeddings.texts)
        child.terminate()
        assert child.ended(10) == 0
    assert "41-B" in (raw.parse().choices[0].message.content or "")
    assert "x-backscroll-degraded" not in raw.headers
    assert embedded < len(messages) // 2
    assert seconds < GENEROUS_S
