"""Keys in the bucket, seen by every gateway."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from backscroll.cli import app
from services.gateway.http.access import KeyRing
from services.gateway.http.keys import BucketKeys, digest_of, new_key
from shared.bus import Bus, provision
from shared.errors import PermanentFault, Unauthorized
from shared.settings import Settings


async def test_a_bucket_keeps_keys(bus: Bus) -> None:
    store = BucketKeys(bus.keys)
    assert await store.load() == []
    key, stored = new_key("acme", 1.0)
    _, other = new_key("beta", 2.0)
    await store.save(stored)
    await store.save(other)
    assert sorted(await store.load(), key=lambda k: k.created) == [stored, other]
    ring = KeyRing(store, may_be_open=True)
    await ring.start()
    assert await ring.tenant_of([key]) == "acme"
    await store.save(stored.model_copy(update={"revoked": True}))
    again = KeyRing(store, may_be_open=True)
    await again.start()
    with pytest.raises(Unauthorized):
        await again.tenant_of([key])


async def test_what_is_no_key_stops_the_start(bus: Bus) -> None:
    await bus.keys.put("0" * 12, b"{}")
    with pytest.raises(PermanentFault, match="no key"):
        await KeyRing(BucketKeys(bus.keys), may_be_open=True).start()


@pytest.fixture
def provisioned(nats_url: str) -> str:
    assert asyncio.run(provision(nats_url, Settings())) == []
    return nats_url


def test_the_command_on_a_server(provisioned: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKSCROLL_NATS_URL", provisioned)
    key = _added("acme")
    listed = CliRunner().invoke(app, ["keys", "list"]).stdout
    assert "acme" in listed
    assert digest_of(key)[:12] in listed
    assert key not in listed


def test_the_command_on_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKSCROLL_DATA_DIR", str(tmp_path))
    key = _added("acme")
    run = CliRunner()
    assert run.invoke(app, ["keys", "revoke", digest_of(key)[:12]]).exit_code == 0
    assert "revoked" in run.invoke(app, ["keys", "list"]).stdout
    assert run.invoke(app, ["keys", "revoke", "0" * 12]).exit_code == 1
    assert run.invoke(app, ["keys", "add", "no good"]).exit_code == 2
    kept = json.loads((tmp_path / "keys.json").read_text())["keys"]
    assert [(k["tenant"], k["revoked"]) for k in kept] == [("acme", True)]


def _added(tenant: str) -> str:
    done = CliRunner().invoke(app, ["keys", "add", tenant])
    assert done.exit_code == 0, done.output
    return done.stdout.strip()
