import asyncio

import pytest

from shared.contracts.events import ExchangeRecorded
from tests.unit.services.gateway.inspector.records import recorded


@pytest.fixture(scope="session")
def events() -> list[ExchangeRecorded]:
    return asyncio.run(recorded())
