"""Who asks: every request belongs to a tenant, or is refused before anything of it is read."""

import asyncio
import hmac
import ipaddress
import time
from collections import Counter
from collections.abc import Callable, Iterable

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

from services.gateway.dialects import dialect_of
from services.gateway.http.keys import KeyStore, by_digest, digest_of
from services.gateway.http.respond import error_response
from shared.errors import (
    BackscrollError,
    DependencyUnavailable,
    PermanentFault,
    TooManyRequests,
    Unauthorized,
)
from shared.settings import Settings

log = structlog.get_logger(__name__)

OPEN_TENANT = "default"
"""Whose everything is where no keys are."""
UNGUARDED = frozenset({"/health/live", "/health/ready", "/metrics"})
INSPECTOR = "/inspector"
"""Has a door of its own: whoever comes in there sees every tenant."""
FRESH_S = 5.0
"""How long a gateway believes what it read of the keys: as late may a revocation take effect."""
LOOKED_UP_S = 0.5
"""An unknown key is looked up anew no more often than this."""
RETRY_AFTER_S = 1

Headers = list[tuple[bytes, bytes]]


class KeyRing:
    """The keys in force. Without any key the gateway is open, which it may be on loopback alone."""

    def __init__(
        self, store: KeyStore, *, may_be_open: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._clock = clock
        self._may_be_open = may_be_open
        self._tenants: dict[str, str] = {}
        self._logins: list[str] = []
        self._open = False
        self._read_at = 0.0
        self._reading = asyncio.Lock()

    async def start(self) -> None:
        """Raises `PermanentFault` where there is no key and the gateway can be reached from elsewhere."""
        await self._read()
        if not self._tenants and not self._open:
            raise PermanentFault(
                "There is no API key in force: make one with `backscroll keys add <tenant>`. Without any, "
                "a gateway serves on 127.0.0.1 alone, and only if no key was ever made; revoked ones count."
            )

    async def tenant_of(self, presented: Iterable[str]) -> str:
        """The tenant of the first key that is in force. Raises `Unauthorized`."""
        await self._refresh(FRESH_S)
        if self._open:
            return OPEN_TENANT
        digests = [digest_of(key) for key in presented]
        if not any(digest in self._tenants for digest in digests) and digests:
            await self._refresh(LOOKED_UP_S)
        tenant = next((self._tenants[digest] for digest in digests if digest in self._tenants), None)
        if tenant is None:
            raise Unauthorized("A Backscroll API key is needed, as a bearer token or as x-api-key.")
        return tenant

    async def is_admin(self, login: str) -> bool:
        """Whether it is the login of an admin's key that is in force; without any key all are."""
        await self._refresh(FRESH_S)
        if self._open:
            return True
        digest = digest_of(login)
        if not any(hmac.compare_digest(digest, known) for known in self._logins) and login:
            await self._refresh(LOOKED_UP_S)
        return any(hmac.compare_digest(digest, known) for known in self._logins)

    @property
    def is_open(self) -> bool:
        return self._open

    async def _refresh(self, age_s: float) -> None:
        async with self._reading:
            if self._clock() - self._read_at < age_s:
                return
            try:
                await self._read()
            except (DependencyUnavailable, PermanentFault) as error:
                # What was read before stays in force: an outage locks nobody out and lets nobody in.
                log.warning("keys not read", error=type(error).__name__)
                self._read_at = self._clock()

    async def _read(self) -> None:
        keys = await self._store.load()
        self._tenants = by_digest(keys)
        self._logins = [key.login for key in keys if key.login and not key.revoked]
        self._open = self._may_be_open and not keys
        self._read_at = self._clock()


class Guard:
    """Names the tenant (`request.state.tenant`), takes the key out of the headers, and counts."""

    def __init__(self, app: ASGIApp, keys: KeyRing, most: int) -> None:
        self._app = app
        self._keys = keys
        self._most = most
        self._running: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _unguarded(scope["path"]):
            await self._app(scope, receive, send)
            return
        try:
            tenant = await self._admitted(scope)
        except BackscrollError as error:
            response = error_response(error, dialect_of(scope["path"]))
            if isinstance(error, Unauthorized):
                response.raw_headers.append((b"www-authenticate", b"Bearer"))
            await response(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._running[tenant] -= 1
            if not self._running[tenant]:
                del self._running[tenant]

    async def _admitted(self, scope: Scope) -> str:
        headers: Headers = scope["headers"]
        presented = keys_in(headers)
        tenant = await self._keys.tenant_of(presented)
        if self._running[tenant] >= self._most:
            raise TooManyRequests(
                f"{self._most} requests are running already, which is as many as are allowed.", RETRY_AFTER_S
            )
        self._running[tenant] += 1
        if not self._keys.is_open:
            scope["headers"] = without_keys(headers, presented)
        scope.setdefault("state", {})["tenant"] = tenant
        return tenant


def _unguarded(path: str) -> bool:
    return path in UNGUARDED or path == INSPECTOR or path.startswith(f"{INSPECTOR}/")


def keys_in(headers: Headers) -> list[str]:
    """What is presented as a key: bearer tokens and the values of `x-api-key`."""
    found = []
    for name, value in headers:
        text = value.decode("latin-1").strip()
        scheme, _, token = text.partition(" ")
        if name == b"x-api-key":
            found.append(text)
        elif name == b"authorization" and scheme.lower() == "bearer":
            found.append(token.strip())
    return found


def without_keys(headers: Headers, presented: Iterable[str]) -> Headers:
    """Neither the headers that keys come in, nor any other that holds one."""
    keys = [key.encode("latin-1") for key in presented if key]
    return [
        (name, value)
        for name, value in headers
        if name not in (b"authorization", b"x-api-key") and not any(key in value for key in keys)
    ]


def may_be_open(settings: Settings) -> bool:
    """A file that was named is meant to be there; elsewhere than on loopback anybody could come in."""
    return settings.keys_file is None and is_loopback(settings.host)


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
