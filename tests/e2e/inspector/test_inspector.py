"""The pages in a real Chromium, over records that a real conversation left."""

import base64
import os
from pathlib import Path

import httpx
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.expected_conditions import url_contains
from selenium.webdriver.support.wait import WebDriverWait

from tests.e2e.inspector.browser import DESKTOP, PHONE, sized
from tests.e2e.inspector.conftest import Shown
from tests.e2e.inspector.play import LONG, SHORT

IMAGES = Path(__file__).parents[3] / "docs" / "images"
SHOTS = "BACKSCROLL_SCREENSHOTS"
"""Set by `make screenshots`: a plain run of the tests changes no file."""


def all_of(page: Chrome, css: str) -> list[WebElement]:
    return page.find_elements(By.CSS_SELECTOR, css)


def one_of(page: Chrome, css: str) -> WebElement:
    return page.find_element(By.CSS_SELECTOR, css)


def follow(page: Chrome, element: WebElement, leads_to: str) -> None:
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()
    WebDriverWait(page, 20).until(url_contains(leads_to))


def test_from_the_sessions_to_the_turn_that_an_excerpt_comes_from(page: Chrome, shown: Shown) -> None:
    page.get(shown.root)
    text = one_of(page, "main").text
    assert LONG in text
    assert SHORT in text
    follow(page, page.find_element(By.LINK_TEXT, LONG), "/sessions/")
    assert "fork" in one_of(page, "table").text
    rows = all_of(page, "tbody tr")
    assert len(rows) == len(shown.played.long) + 1
    follow(page, one_of(page, f"a[href$='{shown.played.long[0]}']"), "/records/")
    for part in ("budget", "prefix", "prompt", "candidates", "timings"):
        assert one_of(page, f"#{part}").text
    excerpt = one_of(page, "#prompt .quote")
    said = excerpt.text
    assert any("\u4e00" <= c <= "\u9fff" for c in one_of(page, "#prompt").text)
    assert said
    taken = all_of(page, "#candidates tr.taken")
    dropped = all_of(page, "#candidates tr.dropped")
    assert taken
    assert dropped
    excerpt.find_element(By.CSS_SELECTOR, "a.chip").click()
    WebDriverWait(page, 20).until(lambda p: "#m" in p.current_url or "/positions/" in p.current_url)


def test_two_requests_are_compared(page: Chrome, shown: Shown) -> None:
    page.get(f"{shown.root}/sessions/i-default/i-{LONG}")
    follow(page, one_of(page, "main form button"), "/compare")
    text = one_of(page, "main").text
    assert "Decisions" in text
    assert all_of(page, ".side-left, .side-right")


def test_a_plan_is_made_again_and_nothing_is_written(page: Chrome, shown: Shown) -> None:
    session = f"{shown.root}/sessions/i-default/i-{LONG}"
    page.get(session)
    before = len(all_of(page, "tbody tr"))
    page.get(f"{shown.record(shown.played.long[0])}/plan")
    one_of(page, "#f-memory_max_tokens").send_keys("200")
    follow(page, one_of(page, "form.wish button"), "memory_max_tokens=200")
    assert "200" in one_of(page, "#result").text
    page.get(session)
    assert len(all_of(page, "tbody tr")) == before


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_page_is_wider_than_the_screen_or_complains(
    page: Chrome, shown: Shown, size: tuple[int, int]
) -> None:
    first, played = shown.played.long[0], shown.played
    sized(page, size)
    for path in (
        "/",
        f"/sessions/i-default/i-{LONG}",
        f"/records/i-default/{first}",
        f"/records/i-default/{played.short}",
        f"/records/i-default/{first}/plan?profile=seed",
        f"/compare?tenant=i-default&a={played.long[2]}&b={played.edited}",
    ):
        page.get(shown.root + path)
        assert page.execute_script("return document.documentElement.scrollWidth") <= size[0], path
        assert page.get_log("browser") == [], path


def test_nothing_comes_from_elsewhere(shown: Shown) -> None:
    reply = httpx.get(shown.record(shown.played.long[0]))
    assert reply.status_code == 200
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert "//" not in reply.text.replace("http://www.w3.org", "").split("<main")[0]


@pytest.mark.skipif(SHOTS not in os.environ, reason=f"{SHOTS} is not set: no file is changed")
def test_screenshots(page: Chrome, shown: Shown) -> None:
    IMAGES.mkdir(exist_ok=True)
    first = shown.played.long[0]
    for name, path, size, height in (
        ("inspector-session", f"/sessions/i-default/i-{LONG}", DESKTOP, 1100),
        ("inspector-request", f"/records/i-default/{shown.played.edited}", DESKTOP, 1400),
        ("inspector-request-phone", f"/records/i-default/{shown.played.short}", PHONE, 1400),
        ("inspector-plan", f"/records/i-default/{first}/plan?profile=seed&without_state=on", DESKTOP, 1100),
    ):
        sized(page, (size[0], height))
        page.get(shown.root + path)
        shot = page.execute_cdp_cmd("Page.captureScreenshot", {})["data"]
        (IMAGES / f"{name}.png").write_bytes(base64.b64decode(shot))
