"""Debian's Chromium, headless, with a profile of its own."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService

QUIET = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--lang=en",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")
DESKTOP = (1280, 900)
PHONE = (375, 800)


def missing() -> str | None:
    """Why there is no browser to test with; None where there is one."""
    if _browser() is None:
        return "there is no Chromium (`make browser` installs it on Debian as root)"
    if shutil.which("chromedriver") is None:
        return "there is no chromedriver (Debian's package chromium-driver)"
    return None


def required() -> None:
    """Skips, and says what is missing, where there is no browser."""
    if reason := missing():
        pytest.skip(reason)


@contextmanager
def opened(profile: Path) -> Iterator[Chrome]:
    options = ChromeOptions()
    options.binary_location = str(_browser())
    for argument in (*QUIET, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=ChromeService(shutil.which("chromedriver")))
    try:
        driver.set_page_load_timeout(30)
        yield driver
    finally:
        driver.quit()


def sized(driver: Chrome, size: tuple[int, int], *, dark: bool = False) -> None:
    """The size of the page itself: a window cannot be as narrow as a phone."""
    width, height = size
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE},
    )
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


def _browser() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)
