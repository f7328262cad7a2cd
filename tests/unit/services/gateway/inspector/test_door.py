import pytest
from starlette.datastructures import Headers

from services.gateway.inspector import door


@pytest.mark.parametrize(
    "path", ["/inspector", "/inspector/sessions/i-a/i-b?before=7", "/inspector/compare?a=1&b=2"]
)
def test_a_login_leads_where_it_was_asked_for(path: str) -> None:
    assert door.onward(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "//evil.test",
        "https://evil.test",
        "/inspector//evil",
        "/inspector@evil.test",
        "/v1/models",
        "/inspector\\x",
        "/inspector/\nx",
        "/inspectors",
    ],
)
def test_a_login_leads_nowhere_else(path: str) -> None:
    assert door.onward(path) == "/inspector"


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site", "origin": "http://here:8400", "host": "here:8400"}, False),
        ({"origin": "http://here:8400", "host": "here:8400"}, True),
        ({"origin": "http://here:8401", "host": "here:8400"}, False),
        ({"origin": "null", "host": "here:8400"}, False),
        ({"host": "here:8400"}, True),
    ],
)
def test_posts_come_from_its_own_pages(headers: dict[str, str], own: bool) -> None:
    assert door.own_page(Headers(headers)) == own


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("127.0.0.1:8400", True),
        ("localhost", True),
        ("[::1]:8400", True),
        ("evil.test:8400", False),
        ("", False),
        ("127.0.0.1.evil.test", False),
        ("localhost.evil.test", False),
    ],
)
def test_an_open_inspector_answers_to_this_machine_alone(host: str, here: bool) -> None:
    assert door.named_here(Headers({"host": host})) == here
