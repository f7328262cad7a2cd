import io
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from shared.settings import Settings
from shared.telemetry import configure_logging
from tests.support.embedding_server import EmbeddingServer, embedding_server
from tests.support.scripted_engine import ScriptedEngine, scripted_engine
from tests.support.stack import Stack, running

WINDOW = 2048


@pytest.fixture
def embeddings() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture
def engine() -> Iterator[ScriptedEngine]:
    with scripted_engine(WINDOW) as engine:
        yield engine


@pytest.fixture
def settings(tmp_path: Path, embeddings: EmbeddingServer, engine: ScriptedEngine) -> Settings:
    return Settings(
        data_dir=tmp_path,
        engine_url=engine.url,
        embed_url=embeddings.url,
        embed_dim=embeddings.dim,
        max_context=WINDOW,
        embed_wait_s=20,
    )


@pytest.fixture
async def stack(settings: Settings, tmp_path: Path) -> AsyncIterator[Stack]:
    async with running(settings, tmp_path / "nats") as stack:
        yield stack


@pytest.fixture
def logs() -> Iterator[io.StringIO]:
    """As services write them, at their most talkative."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    configure_logging("debug")
    written = io.StringIO()
    cast(logging.StreamHandler[Any], root.handlers[0]).setStream(written)
    yield written
    root.handlers[:] = handlers
    root.setLevel(level)
