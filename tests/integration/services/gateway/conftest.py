from collections.abc import AsyncIterator

import pytest

from shared.settings import Settings
from tests.support.gateway import Running
from tests.support.gateway import gateway as running
from tests.support.raw_engine import RawEngine, raw_engine


@pytest.fixture
async def engine() -> AsyncIterator[RawEngine]:
    async with raw_engine() as engine:
        yield engine


@pytest.fixture
async def patient(engine: RawEngine) -> AsyncIterator[Running]:
    """In front of `engine`, with all the time in the world."""
    async with running(Settings(engine_url=engine.url, max_context=4096)) as gateway:
        yield gateway


@pytest.fixture
async def gateway(engine: RawEngine) -> AsyncIterator[Running]:
    """In front of `engine`, which may be silent for 0.3 s and take 1.5 s."""
    settings = Settings(
        engine_url=engine.url, max_context=4096, engine_idle_timeout_s=0.3, engine_timeout_s=1.5
    )
    async with running(settings) as gateway:
        yield gateway
