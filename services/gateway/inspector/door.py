"""Who may look: an admin's key, typed once; a cookie that holds its login, and is good for nothing else."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import URL, Headers
from starlette.responses import Response

from services.gateway.http.access import INSPECTOR, KeyRing, is_loopback

COOKIE = "backscroll-inspector"
STAYS_S = 12 * 3600
INSIDE = re.compile(rf"{INSPECTOR}(/[\w./?=&%-]*)?")


async def admits(keys: KeyRing, cookies: Mapping[str, str]) -> bool:
    return await keys.is_admin(cookies.get(COOKIE, ""))


def let_in(response: Response, login: str, url: URL) -> None:
    """Scripts do not see it, other sites do not cause it to be sent."""
    response.set_cookie(
        COOKIE,
        login,
        max_age=STAYS_S,
        path=INSPECTOR,
        secure=url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def show_out(response: Response) -> None:
    response.delete_cookie(COOKIE, path=INSPECTOR)


def own_page(headers: Headers) -> bool:
    """Whether a post comes from one of these pages. Browsers tell, and a page cannot make them lie."""
    if site := headers.get("sec-fetch-site"):
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")


def named_here(headers: Headers) -> bool:
    """Without keys only names of this machine are answered: another one that leads here is an attacker's
    (DNS rebinding), whose page could read everything."""
    host = urlsplit(f"//{headers.get('host', '')}").hostname or ""
    return is_loopback(host)


def onward(path: str) -> str:
    """Where to go after the door: a page of the inspector, and nothing else."""
    return path if INSIDE.fullmatch(path) and "//" not in path else INSPECTOR
