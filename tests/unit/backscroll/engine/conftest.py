from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.applications import Starlette

from backscroll.engine import create_engine

WINDOW = 1024


@pytest.fixture
def app() -> Starlette:
    return create_engine(WINDOW, keep_seen=8)


@pytest.fixture
async def client(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://engine") as client:
        yield client
