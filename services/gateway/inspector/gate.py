"""The door as pages: what is asked of whoever comes, and what becomes of what goes wrong behind it."""

from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl, quote

import structlog
from starlette.requests import Request as HttpRequest
from starlette.responses import RedirectResponse, Response

from services.gateway.http.access import INSPECTOR, KeyRing
from services.gateway.http.keys import login_of
from services.gateway.inspector import door
from services.gateway.inspector.pages import HEADERS, Pages
from shared.errors import BackscrollError, DependencyUnavailable, InvalidRequest, NotFound

log = structlog.get_logger(__name__)

LONGEST_FORM = 4096

Page = Callable[[HttpRequest], Awaitable[Response]]


class Gate:
    def __init__(self, keys: KeyRing, pages: Pages) -> None:
        self._keys = keys
        self._pages = pages

    def reached(self, page: Page) -> Page:
        """For every page, the door included: who asks comes from here, and an error is a page too."""

        async def answer(http: HttpRequest) -> Response:
            admitted = await door.admits(self._keys, http.cookies)
            if self._keys.is_open and not door.named_here(http.headers):
                return self._failed(403, "Without API keys this answers to names of this machine alone.")
            if http.method == "POST" and not door.own_page(http.headers):
                return self._failed(403, "This did not come from a page of the inspector.")
            http.state.admitted = admitted
            try:
                return await page(http)
            except NotFound as error:
                return self._failed(404, str(error))
            except DependencyUnavailable as error:
                return self._failed(503, f"A part does not answer: {error.part}.")
            except BackscrollError as error:
                return self._failed(400, str(error))

        return answer

    def guarded(self, page: Page) -> Page:
        async def answer(http: HttpRequest) -> Response:
            if http.state.admitted:
                return await page(http)
            asked = http.url.path + (f"?{http.url.query}" if http.url.query else "")
            return RedirectResponse(f"{INSPECTOR}/login?next={quote(asked, safe='')}", 303, HEADERS)

        return self.reached(answer)

    async def ask(self, http: HttpRequest) -> Response:
        onward = door.onward(http.query_params.get("next", ""))
        if http.state.admitted:
            return RedirectResponse(onward, 303, HEADERS)
        return self._asking(200, onward)

    async def let_in(self, http: HttpRequest) -> Response:
        form = await _form(http)
        onward, login = door.onward(form.get("next", "")), login_of(form.get("key", "").strip())
        if not await self._keys.is_admin(login):
            log.warning("inspector login refused")
            return self._asking(401, onward, wrong=True)
        response = RedirectResponse(onward, 303, HEADERS)
        door.let_in(response, login, http.url)
        return response

    async def show_out(self, _: HttpRequest) -> Response:
        response = RedirectResponse(f"{INSPECTOR}/login", 303, HEADERS)
        door.show_out(response)
        return response

    def _asking(self, status: int, onward: str, wrong: bool = False) -> Response:
        return self._pages.page("login.html", status, onward=onward, wrong=wrong, bare=True)

    def _failed(self, status: int, told: str) -> Response:
        return self._pages.page("failed.html", status, told=told, bare=True)


async def _form(http: HttpRequest) -> dict[str, str]:
    body = b""
    async for part in http.stream():
        body += part
        if len(body) > LONGEST_FORM:
            raise InvalidRequest("The form is too long.")
    return dict(parse_qsl(body.decode("utf-8", "replace")))
