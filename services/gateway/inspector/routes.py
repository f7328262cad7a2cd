"""The pages' addresses, and what each asks for."""

import asyncio
import re
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route

from services.gateway.http.access import INSPECTOR, KeyRing
from services.gateway.inspector import sessions
from services.gateway.inspector.chart import chart_of
from services.gateway.inspector.gate import Gate
from services.gateway.inspector.pages import HEADERS, STATIC, Pages
from services.gateway.inspector.replan import replan
from services.gateway.inspector.timeline import Row, rows_of
from services.gateway.inspector.views import (
    Read,
    comparison_view,
    planned_view,
    position_view,
    read,
    request_view,
)
from services.gateway.inspector.wish import change_of, fields_of
from shared.bus import Bus, subjects
from shared.contracts.events import ExchangeRecorded
from shared.errors import InvalidRequest, NotFound

PER_PAGE = 60
LINEAGE = 300
"""Newest records of a session in which what belongs to a request is looked for."""
TRIED = 3
TOKEN = re.compile(r"[ibh]-[A-Za-z0-9_-]{0,64}")


class Inspector:
    def __init__(self, bus: Bus, keys: KeyRing, plan_timeout_s: float) -> None:
        self._bus = bus
        self._keys = keys
        self._plan_timeout_s = plan_timeout_s
        self._pages = Pages()
        self._gate = Gate(keys, self._pages)

    def mount(self) -> Mount:
        record, gate = "/records/{tenant}/{record}", self._gate
        return Mount(
            INSPECTOR,
            routes=[
                Route("/", gate.guarded(self.overview)),
                Route("/login", gate.reached(gate.ask)),
                Route("/login", gate.reached(gate.let_in), methods=["POST"]),
                Route("/logout", gate.reached(gate.show_out), methods=["POST"]),
                Route("/style.css", self.style),
                Route("/icon.svg", self.icon),
                Route("/sessions/{tenant}/{session}", gate.guarded(self.session)),
                Route(record, gate.guarded(self.request)),
                Route(f"{record}/json", gate.guarded(self.raw)),
                Route(f"{record}/plan", gate.guarded(self.plan)),
                Route(f"{record}/positions/{{position:int}}", gate.guarded(self.position)),
                Route("/compare", gate.guarded(self.compare)),
            ],
        )

    async def _page(self, template: str, **values: Any) -> Response:
        """Rendered beside the loop: a prompt has megabytes."""
        keyed = not self._keys.is_open
        return await asyncio.to_thread(self._pages.page, template, bare=False, keyed=keyed, **values)

    async def style(self, _: HttpRequest) -> Response:
        return Response(self._pages.style, headers=STATIC, media_type="text/css")

    async def icon(self, _: HttpRequest) -> Response:
        return Response(self._pages.icon, headers=STATIC, media_type="image/svg+xml")

    async def overview(self, http: HttpRequest) -> Response:
        asked, records = http.query_params.get("q", "").strip(), self._bus.records
        before = _number(http, "before")
        found = await (sessions.matching(records, asked) if asked else sessions.newest(records, before))
        return await self._page("overview.html", asked=asked, found=found, before=before)

    async def session(self, http: HttpRequest) -> Response:
        tenant, session = http.path_params["tenant"], http.path_params["session"]
        before = _number(http, "before")
        page = await self._bus.records.of_session(_token(tenant), _token(session), before, PER_PAGE)
        if not page.listed:
            raise NotFound("There is no record of this session.")
        rows = rows_of(page.listed)
        return await self._page(
            "session.html",
            tenant=tenant,
            session=session,
            tenant_name=subjects.id_of(tenant),
            label=sessions.label_of(page.listed[0]),
            rows=rows,
            chart=chart_of(rows),
            before=before,
            earlier=page.earlier,
        )

    async def request(self, http: HttpRequest) -> Response:
        found, one = await self._read(http.path_params["tenant"], http.path_params["record"])
        rows = await self._lineage(found)
        place = next((r.seen.sequence for r in rows if r.seen.record == subjects.token(found.record)), None)
        view = await asyncio.to_thread(request_view, one, rows, place or 0)
        return await self._page("request.html", **view, session=subjects.token(found.session))

    async def raw(self, http: HttpRequest) -> Response:
        found, _ = await self._read(http.path_params["tenant"], http.path_params["record"])
        return Response(found.body, headers=HEADERS, media_type="application/json")

    async def position(self, http: HttpRequest) -> Response:
        """To where a message stood in a prompt, if a record shows it."""
        found, one = await self._read(http.path_params["tenant"], http.path_params["record"])
        position = http.path_params["position"]
        address = one.record.address(position)
        stood = [
            row
            for row in reversed(await self._lineage(found))
            if row.told.get("window_start", 0) <= position < row.told.get("length", 0)
        ]
        for row in stood[:TRIED]:
            _, other = await self._read(row.seen.tenant, subjects.id_of(row.seen.record))
            if address is not None and other.record.address(position) == address:
                return RedirectResponse(f"{INSPECTOR}/{other.path}#m{position}", 303, HEADERS)
        return await self._page("position.html", **await asyncio.to_thread(position_view, one, position))

    async def compare(self, http: HttpRequest) -> Response:
        tenant = http.query_params.get("tenant", "")
        names = [http.query_params.get(side, "") for side in ("a", "b")]
        if not all(names):
            raise InvalidRequest("Choose two requests of a session to compare.")
        (_, left), (_, right) = await asyncio.gather(*(self._read(tenant, name) for name in names))
        return await self._page("compare.html", **await asyncio.to_thread(comparison_view, left, right))

    async def plan(self, http: HttpRequest) -> Response:
        """Planned again where the form was sent; asking is all that is done."""
        _, one = await self._read(http.path_params["tenant"], http.path_params["record"])
        given = dict(http.query_params)
        values: dict[str, Any] = {
            "one": one,
            "record": one.record,
            "fields": fields_of(given),
            "given": given,
        }
        if one.record.asked is None:
            raise NotFound("This record does not tell what was asked of the assembler.")
        if not given:
            return await self._page("plan.html", **values, planned=None)
        plan = await replan(self._bus, one.record.asked, change_of(given), self._plan_timeout_s)
        planned = await asyncio.to_thread(planned_view, one, plan)
        return await self._page("plan.html", **values, planned=planned)

    async def _read(self, tenant: str, record: str) -> tuple[ExchangeRecorded, Read]:
        found = await self._bus.records.read(_token(tenant), subjects.token(record))
        if found is None:
            raise NotFound("There is no record of this id; passed-through requests have none.")
        return found, await asyncio.to_thread(read, tenant, found.body)

    async def _lineage(self, found: ExchangeRecorded) -> list[Row]:
        names = subjects.token(found.tenant), subjects.token(found.session)
        return rows_of((await self._bus.records.of_session(*names, None, LINEAGE)).listed)


def _token(given: str) -> str:
    """Part of an address as part of a subject. Raises `NotFound` for what is no token."""
    if not TOKEN.fullmatch(given):
        raise NotFound("There is no such page.")
    return given


def _number(http: HttpRequest, name: str) -> int | None:
    given = http.query_params.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 20 else None
