"""Backscroll in front of the engine that `ENGINE_URL` names; without it everything here is skipped."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing

import httpx
import pytest

from tests.support.processes import standalone, url_of

FIGURES = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def engine_url() -> str:
    """Without `/v1`."""
    url = os.environ.get("ENGINE_URL")
    if not url:
        pytest.skip("ENGINE_URL names no engine; `make test-engine` starts one")
    return url.rstrip("/")


@pytest.fixture(scope="session")
def engine(engine_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=engine_url, timeout=300) as client:
        yield client


@pytest.fixture(scope="session")
def gateway(engine_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """`backscroll up` on embedded parts; it is told the engine's address and nothing else of it."""
    place = tmp_path_factory.mktemp("backscroll")
    settings = {"data_dir": place, "port": 0, "engine_url": f"{engine_url}/v1", "count_timeout_s": 60}
    with (
        closing(standalone(settings)) as child,
        httpx.Client(base_url=url_of(child), timeout=300) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def figure(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """Tells a line that is written after the tests."""
    return pytestconfig.stash.setdefault(FIGURES, []).append


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    for line in config.stash.get(FIGURES, []):
        terminalreporter.write_line(line)
