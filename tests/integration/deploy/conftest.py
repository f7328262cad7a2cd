import asyncio
from collections.abc import Iterator

import pytest

from shared.bus import provision
from shared.settings import Settings
from tests.support.compose_nats import ComposeNats, compose_nats


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ComposeNats]:
    """Provisioned by the operator."""
    with compose_nats(tmp_path_factory.mktemp("nats")) as nats:
        assert asyncio.run(provision(nats.url("operator"), Settings())) == []
        yield nats
