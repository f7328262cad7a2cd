"""Whose a request is, and what of it goes on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from services.gateway.http import access
from services.gateway.http.access import Guard, KeyRing, is_loopback, may_be_open
from services.gateway.http.keys import StoredKey, login_of, new_key
from shared.errors import DependencyUnavailable, PermanentFault
from shared.settings import Settings


class MemoryKeys:
    def __init__(self, *keys: StoredKey) -> None:
        self.keys = {key.id: key for key in keys}
        self.down = False
        self.loads = 0
        self.now = 100.0

    async def load(self) -> list[StoredKey]:
        self.loads += 1
        if self.down:
            raise DependencyUnavailable("bus_unavailable", "down")
        return list(self.keys.values())

    async def save(self, key: StoredKey) -> None:
        self.keys[key.id] = key


@asynccontextmanager
async def client(
    store: MemoryKeys, *, may_be_open: bool = False, most: int = 8, gate: asyncio.Event | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    """An app that tells what reached it; held until the gate opens, where there is one."""

    async def echo(http: Request) -> JSONResponse:
        if gate is not None:
            await gate.wait()
        return JSONResponse({"tenant": http.state.tenant, "headers": dict(http.headers)})

    async def bare(http: Request) -> JSONResponse:
        return JSONResponse({"tenant": getattr(http.state, "tenant", None)})

    ring = KeyRing(store, may_be_open=may_be_open, clock=lambda: store.now)
    await ring.start()
    app = Starlette(
        routes=[
            Route("/v1/chat/completions", echo, methods=["POST"]),
            Route("/v1/messages", echo, methods=["POST"]),
            Route("/health/live", bare),
        ],
        middleware=[Middleware(Guard, keys=ring, most=most)],
    )
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app), base_url="http://backscroll"
    ) as made:
        yield made


CHAT = "/v1/chat/completions"


@pytest.mark.parametrize(
    "header", [("authorization", "Bearer {}"), ("Authorization", "bearer  {}"), ("x-api-key", "{}")]
)
async def test_a_key_names_its_tenant_and_goes_no_further(header: tuple[str, str]) -> None:
    key, stored = new_key("acme", 1.0)
    _, other = new_key("beta", 1.0)
    name, value = header
    async with client(MemoryKeys(stored, other)) as http:
        reply = await http.post(CHAT, headers={name: value.format(key), "x-copy": f"my {key}", "x-kept": "1"})
    assert reply.json()["tenant"] == "acme"
    assert key not in reply.text
    assert {"x-kept": "1"}.items() <= reply.json()["headers"].items()
    assert not {"authorization", "x-api-key"} & reply.json()["headers"].keys()


async def test_either_header_may_hold_the_key_and_neither_goes_on() -> None:
    key, stored = new_key("acme", 1.0)
    async with client(MemoryKeys(stored)) as http:
        reply = await http.post(CHAT, headers={"authorization": "Bearer engine-key", "x-api-key": key})
    assert reply.json()["tenant"] == "acme"
    assert "engine-key" not in reply.text


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer bs-wrong"}, {"authorization": "Basic x"}])
async def test_without_a_key_in_force_nothing_is_answered(headers: dict[str, str]) -> None:
    key, stored = new_key("acme", 1.0)
    _, other = new_key("beta", 1.0)
    async with client(MemoryKeys(stored.model_copy(update={"revoked": True}), other)) as http:
        for given in (headers, {"x-api-key": key}, {"x-api-key": stored.digest}):
            reply = await http.post(CHAT, headers=given)
            assert reply.status_code == 401
            assert reply.json()["error"]["code"] == "invalid_api_key"
            assert reply.headers["www-authenticate"] == "Bearer"
        assert (await http.post("/v1/anything")).status_code == 401
        assert (await http.get("/")).status_code == 401
        assert (await http.get("/health/live")).json() == {"tenant": None}


async def test_open_is_open_and_leaves_the_clients_key_to_the_engine() -> None:
    async with client(MemoryKeys(), may_be_open=True) as http:
        reply = await http.post(CHAT, headers={"authorization": "Bearer engine-key"})
    assert reply.json()["tenant"] == "default"
    assert reply.json()["headers"]["authorization"] == "Bearer engine-key"


async def test_open_ends_with_the_first_key_and_does_not_come_back() -> None:
    store = MemoryKeys()
    key, stored = new_key("acme", 1.0)
    async with client(store, may_be_open=True) as http:
        await store.save(stored)
        store.now += access.FRESH_S
        assert (await http.post(CHAT)).status_code == 401
        assert (await http.post(CHAT, headers={"x-api-key": key})).json()["tenant"] == "acme"
        await store.save(stored.model_copy(update={"revoked": True}))
        store.now += access.FRESH_S
        assert (await http.post(CHAT, headers={"x-api-key": key})).status_code == 401
        assert (await http.post(CHAT)).status_code == 401


async def test_without_keys_a_gateway_that_others_reach_does_not_start() -> None:
    with pytest.raises(PermanentFault, match="backscroll keys add"):
        await KeyRing(MemoryKeys(), may_be_open=False).start()
    _, revoked = new_key("acme", 1.0)
    store = MemoryKeys(revoked.model_copy(update={"revoked": True}))
    with pytest.raises(PermanentFault, match="backscroll keys add"):
        await KeyRing(store, may_be_open=True).start()


async def test_a_new_key_is_looked_up_but_not_for_every_guess() -> None:
    _, stored = new_key("acme", 1.0)
    key, added = new_key("beta", 2.0)
    store = MemoryKeys(stored)
    async with client(store) as http:
        await store.save(added)
        store.now += access.LOOKED_UP_S
        assert (await http.post(CHAT, headers={"x-api-key": key})).json()["tenant"] == "beta"
        loads = store.loads
        for guess in range(20):
            assert (await http.post(CHAT, headers={"x-api-key": f"bs-{guess}"})).status_code == 401
        assert store.loads == loads


async def test_while_the_keys_cannot_be_read_the_known_ones_hold() -> None:
    key, stored = new_key("acme", 1.0)
    store = MemoryKeys(stored)
    async with client(store) as http:
        store.down = True
        store.now += access.FRESH_S
        assert (await http.post(CHAT, headers={"x-api-key": key})).status_code == 200
        assert (await http.post(CHAT, headers={"x-api-key": "bs-x"})).status_code == 401


async def test_a_tenant_has_no_more_running_than_it_may() -> None:
    key, stored = new_key("acme", 1.0)
    other, beside = new_key("beta", 1.0)
    gate = asyncio.Event()
    async with client(MemoryKeys(stored, beside), most=2, gate=gate) as http:
        running = [asyncio.create_task(http.post(CHAT, headers={"x-api-key": key})) for _ in range(2)]
        await asyncio.sleep(0.05)
        refused = await http.post(CHAT, headers={"x-api-key": key})
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "1"
        assert refused.json()["error"]["code"] == "rate_limit_exceeded"
        running.append(asyncio.create_task(http.post(CHAT, headers={"x-api-key": other})))
        await asyncio.sleep(0.05)
        gate.set()
        assert [r.status_code for r in await asyncio.gather(*running)] == [200, 200, 200]
        assert (await http.post(CHAT, headers={"x-api-key": key})).status_code == 200


async def test_errors_have_the_shape_of_the_dialect() -> None:
    key, stored = new_key("acme", 1.0)
    gate = asyncio.Event()
    async with client(MemoryKeys(stored), most=1, gate=gate) as http:
        refused = await http.post("/v1/messages")
        assert refused.status_code == 401
        assert refused.json()["error"]["type"] == "authentication_error"
        running = asyncio.create_task(http.post(CHAT, headers={"x-api-key": key}))
        await asyncio.sleep(0.05)
        too_many = await http.post("/v1/messages", headers={"x-api-key": key})
        assert too_many.json()["error"]["type"] == "rate_limit_error"
        gate.set()
        await running


async def test_who_hangs_up_makes_room() -> None:
    key, stored = new_key("acme", 1.0)
    gate = asyncio.Event()
    async with client(MemoryKeys(stored), most=1, gate=gate) as http:
        gone = asyncio.create_task(http.post(CHAT, headers={"x-api-key": key}))
        await asyncio.sleep(0.05)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        gate.set()
        assert (await http.post(CHAT, headers={"x-api-key": key})).status_code == 200


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("example.org", False),
        ("", False),
    ],
)
def test_which_hosts_are_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_a_file_that_was_named_is_meant(tmp_path: Path) -> None:
    assert may_be_open(Settings())
    assert not may_be_open(Settings(keys_file=tmp_path / "keys.json"))
    assert not may_be_open(Settings(host="0.0.0.0"))


async def test_the_login_of_an_admin_alone_opens_the_inspector() -> None:
    admins, stored = new_key("ops", 1.0, admin=True)
    users, other = new_key("acme", 1.0)
    store = MemoryKeys(stored, other)
    ring = KeyRing(store, may_be_open=True, clock=lambda: store.now)
    await ring.start()
    assert await ring.is_admin(login_of(admins))
    wrong = ["", admins, stored.digest, str(stored.login), users, login_of(users)]
    assert [login for login in wrong if await ring.is_admin(login)] == []
    await store.save(stored.model_copy(update={"revoked": True}))
    store.now += access.FRESH_S
    assert not await ring.is_admin(login_of(admins))


async def test_an_admins_key_that_was_made_just_now_is_known() -> None:
    store = MemoryKeys(new_key("acme", 1.0)[1])
    ring = KeyRing(store, may_be_open=False, clock=lambda: store.now)
    await ring.start()
    key, stored = new_key("ops", 1.0, admin=True)
    await store.save(stored)
    store.now += access.LOOKED_UP_S
    assert await ring.is_admin(login_of(key))


async def test_without_keys_the_inspector_is_open_as_the_rest_is() -> None:
    store = MemoryKeys()
    ring = KeyRing(store, may_be_open=True, clock=lambda: store.now)
    await ring.start()
    assert await ring.is_admin("")


async def test_only_the_inspector_has_a_door_of_its_own() -> None:
    async with client(MemoryKeys(new_key("acme", 1.0)[1])) as http:
        assert (await http.get("/inspector/x")).status_code == 404
        assert (await http.get("/inspectors")).status_code == 401
