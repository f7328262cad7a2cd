"""The pages over HTTP: who gets in, what is escaped, what goes wrong."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware

from services.gateway.http.access import Guard, KeyRing
from services.gateway.http.keys import StoredKey, login_of, new_key
from services.gateway.inspector.door import COOKIE
from services.gateway.inspector.routes import Inspector
from shared.bus import subjects
from shared.bus.records import Listed, Page
from shared.contracts.events import ExchangeRecorded
from shared.contracts.rpc import Assemble, Assembled
from shared.errors import DependencyUnavailable, PermanentFault
from shared.prompt.plan import Layout, Plan
from tests.unit.services.gateway.inspector.records import listed, read

NASTY = "<script>alert(1)</script>\"'&"
KEY, STORED = new_key("ops", 1.0, admin=True)
USER_KEY, USER = new_key("acme", 1.0)


class Told:
    """A bus that holds these records; `asked` are the plans that were asked for."""

    def __init__(self, events: list[ExchangeRecorded]) -> None:
        self.events = events
        self.down = False
        self.asked: list[Assemble] = []
        self.records = self

    def _listed(self) -> tuple[Listed, ...]:
        if self.down:
            raise DependencyUnavailable("bus_unavailable", "down")
        return tuple(listed(self.events))

    async def newest(self, before: int | None, most: int) -> Page:
        return Page(self._listed(), None)

    async def of_session(self, tenant: str, session: str, before: int | None, most: int) -> Page:
        found = (s for s in self._listed() if (s.tenant, s.session) == (tenant, session))
        return Page(tuple(found)[:most], None)

    async def last(self, tenant: str, session: str) -> Listed | None:
        return next(iter((await self.of_session(tenant, session, None, 1)).listed), None)

    async def count(self, tenant: str, session: str, since: int = 0) -> int:
        return len((await self.of_session(tenant, session, None, 10_000)).listed)

    async def sessions(self) -> dict[tuple[str, str], int]:
        return {(s.tenant, s.session): 1 for s in self._listed()}

    async def read(self, tenant: str, record: str) -> ExchangeRecorded | None:
        names = ((e, subjects.token(e.tenant), subjects.token(e.record)) for e in self.events)
        return next((e for e, t, r in names if (t, r) == (tenant, record)), None)

    async def call(self, _: object, request: Assemble, *, timeout_s: float) -> Assembled:
        self.asked.append(request)
        if request.overrides.get("profile") == "bad":
            raise PermanentFault("assemble: profile: no such profile")
        return Assembled(plan=Plan(layout=Layout(), action="cold", built_at=1.0))


class Keys:
    def __init__(self, *keys: StoredKey) -> None:
        self.keys = list(keys)

    async def load(self) -> list[StoredKey]:
        return self.keys

    async def save(self, key: StoredKey) -> None: ...


@asynccontextmanager
async def browser(
    events: list[ExchangeRecorded], *keys: StoredKey, host: str = "127.0.0.1:8400"
) -> AsyncIterator[tuple[httpx.AsyncClient, Told]]:
    bus = Told(events)
    ring = KeyRing(Keys(*keys), may_be_open=True)
    await ring.start()
    inspector: Any = Inspector(bus, ring, 5.0)  # type: ignore[arg-type]
    app = Starlette(routes=[inspector.mount()], middleware=[Middleware(Guard, keys=ring, most=8)])
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as http:
        yield http, bus


def paths(events: list[ExchangeRecorded]) -> list[str]:
    tenant, session = subjects.token(events[0].tenant), subjects.token(events[0].session)
    record = f"/inspector/records/{tenant}/{events[1].record}"
    return [
        "/inspector/",
        "/inspector/?q=log",
        f"/inspector/sessions/{tenant}/{session}",
        record,
        f"{record}/json",
        f"{record}/plan",
        f"{record}/plan?profile=seed",
        f"{record}/positions/0",
        f"/inspector/compare?tenant={tenant}&a={events[0].record}&b={events[1].record}",
    ]


async def test_without_keys_every_page_is_shown(events: list[ExchangeRecorded]) -> None:
    async with browser(events) as (http, _):
        for path in paths(events):
            reply = await http.get(path)
            assert reply.status_code == 200, path
            assert "default-src 'none'" in reply.headers["content-security-policy"]
            assert reply.headers["cache-control"] == "no-store"
            assert not re.search(r"""(src|href|action)=["'](https?:)?//""", reply.text), path
            assert "<script" not in reply.text
            assert " style=" not in reply.text
        assert (await http.get("/inspector", follow_redirects=True)).status_code == 200
        for asset in ("style.css", "icon.svg"):
            assert (await http.get(f"/inspector/{asset}")).status_code == 200


async def test_with_keys_every_page_asks_for_an_admins(events: list[ExchangeRecorded]) -> None:
    async with browser(events, STORED, USER) as (http, _):
        for path in paths(events):
            for given in ({}, {"x-api-key": KEY}, {"cookie": f"{COOKIE}={KEY}"}, {"cookie": f"{COOKIE}=x"}):
                reply = await http.get(path, headers=given)
                assert reply.status_code == 303, path
                assert reply.headers["location"].startswith("/inspector/login?next=%2Finspector")
                assert events[1].session not in reply.text


async def test_a_login_opens_and_a_logout_closes(
    events: list[ExchangeRecorded], caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    async with browser(events, STORED, USER) as (http, _):
        asked = paths(events)[2]
        form = (await http.get(asked, follow_redirects=True)).text
        assert f'value="{asked}"' in form
        for wrong in ("", "x", USER_KEY, STORED.digest, login_of(KEY)):
            refused = await http.post("/inspector/login", data={"key": wrong, "next": asked})
            assert refused.status_code == 401
            assert "set-cookie" not in refused.headers
        reply = await http.post("/inspector/login", data={"key": f" {KEY} ", "next": asked})
        assert (reply.status_code, reply.headers["location"]) == (303, asked)
        cookie = reply.headers["set-cookie"]
        assert KEY not in cookie
        assert {"HttpOnly", "SameSite=strict", "Path=/inspector"} <= set(cookie.split("; "))
        assert (await http.get(asked)).status_code == 200
        assert (await http.get("/inspector/login")).status_code == 303
        await http.post("/inspector/logout")
        assert (await http.get(asked)).status_code == 303
    told = caplog.text + "".join(capsys.readouterr())
    assert KEY not in told
    assert USER_KEY not in told


async def test_over_tls_the_cookie_stays_on_it(events: list[ExchangeRecorded]) -> None:
    async with browser(events, STORED) as (http, _):
        reply = await http.post(
            "https://inspector.test/inspector/login", data={"key": KEY, "next": "//evil.test"}
        )
        assert "Secure" in reply.headers["set-cookie"].split("; ")
        assert reply.headers["location"] == "/inspector"


@pytest.mark.parametrize("path", ["/inspector/login", "/inspector/logout"])
async def test_a_post_from_another_site_does_nothing(events: list[ExchangeRecorded], path: str) -> None:
    async with browser(events, STORED) as (http, _):
        for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "https://evil.test"}):
            reply = await http.post(path, data={"key": KEY}, headers=headers)
            assert reply.status_code == 403
            assert "set-cookie" not in reply.headers


async def test_an_open_inspector_is_not_read_under_another_name(events: list[ExchangeRecorded]) -> None:
    async with browser(events, host="evil.test") as (http, _):
        for path in paths(events):
            reply = await http.get(path)
            assert reply.status_code == 403
            assert events[1].session not in reply.text.replace("Log", "")


async def test_what_people_wrote_is_shown_as_text(events: list[ExchangeRecorded]) -> None:
    nasty = [
        event.model_copy(
            update={
                "session": NASTY,
                "body": event.body.replace('"log"', '"<script>alert(1)</script>"').replace(
                    "Noted", "<b>Noted"
                ),
                "summary": event.summary.replace('"log"', '"<script>alert(1)</script>"'),
            }
        )
        for event in events
    ]
    async with browser(nasty) as (http, _):
        for path in paths(nasty):
            if path.endswith("/json"):
                continue
            reply = await http.get(path)
            assert reply.status_code == 200
            assert "<script" not in reply.text, path
            assert "<b>" not in reply.text
            if path == paths(nasty)[2]:
                assert "&lt;script&gt;alert(1)" in reply.text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/inspector/records/i-default/nothing", 404),
        ("/inspector/records/../x", 404),
        ("/inspector/records/i-*/r1", 404),
        ("/inspector/records/i->/r1", 404),
        ("/inspector/sessions/i-default/i-nothing", 404),
        ("/inspector/sessions/*/*", 404),
        ("/inspector/sessions/b-1/b-1", 404),
        ("/inspector/compare", 400),
        ("/inspector/compare?tenant=i-default&a=r0&b=none", 404),
        ("/inspector/records/i-default/r1/plan?mmr_lambda=much", 400),
        ("/inspector/records/i-default/r1/plan?profile=bad", 400),
        ("/inspector/records/i-default/r1/positions/99999", 200),
        ("/inspector/?before=x", 200),
    ],
)
async def test_what_goes_wrong_is_told(events: list[ExchangeRecorded], path: str, status: int) -> None:
    async with browser(events) as (http, _):
        assert (await http.get(path)).status_code == status


async def test_without_the_bus_it_says_so(events: list[ExchangeRecorded]) -> None:
    async with browser(events) as (http, bus):
        bus.down = True
        reply = await http.get("/inspector/")
        assert reply.status_code == 503
        assert "bus_unavailable" in reply.text


async def test_a_plan_is_asked_for_as_it_was_recorded_but_for_what_is_changed(
    events: list[ExchangeRecorded],
) -> None:
    async with browser(events) as (http, bus):
        path = f"/inspector/records/i-default/{events[1].record}/plan"
        await http.get(path)
        assert bus.asked == []
        await http.get(f"{path}?profile=seed&window=8192&without_state=on")
        (asked,) = bus.asked
        assert (asked.overrides, asked.window, asked.tip) == ({"profile": "seed"}, 8192, None)
        assert not asked.wait_for_index
        await http.get(f"{path}?profile=")
        assert bus.asked[1].tip is not None
        assert (bus.asked[1].history, bus.asked[1].search) == (asked.history, asked.search)


async def test_an_excerpt_leads_to_where_it_stood(events: list[ExchangeRecorded]) -> None:
    async with browser(events) as (http, _):
        last, stood = events[2].record, read(events[0]).layout.window_start
        reply = await http.get(f"/inspector/records/i-default/{last}/positions/{stood}")
        assert reply.status_code == 303
        path, _, anchor = reply.headers["location"].partition("#")
        assert anchor == f"m{stood}"
        assert f'id="{anchor}"' in (await http.get(path)).text
        page = await http.get(f"/inspector/records/i-default/{last}/positions/0")
        assert "36-14-52" in page.text
