"""One `backscroll up` that has seen the chats of `play.py`, and one browser, for all tests of the pages."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from selenium.webdriver import Chrome

from tests.e2e.inspector.browser import DESKTOP, opened, required, sized
from tests.e2e.inspector.play import WINDOW, Played, play
from tests.support.processes import standalone, url_of


@dataclass(frozen=True)
class Shown:
    root: str
    """Of the inspector, without a slash at its end."""
    played: Played

    def record(self, record: str) -> str:
        return f"{self.root}/records/i-default/{record}"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    required()
    child = standalone({"data_dir": tmp_path_factory.mktemp("inspected"), "port": 0, "max_context": WINDOW})
    try:
        url = url_of(child)
        yield Shown(url.removesuffix("/v1") + "/inspector", asyncio.run(play(url)))
    finally:
        child.close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, shown: Shown) -> Iterator[Chrome]:
    with opened(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture
def page(browser: Chrome) -> Chrome:
    sized(browser, DESKTOP)
    browser.get_log("browser")
    return browser
