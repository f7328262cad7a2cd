"""What is kept of keys, and where."""

import asyncio
import stat
from pathlib import Path

import pytest
from pydantic import ValidationError

from services.gateway.http.keys import FileKeys, StoredKey, by_digest, digest_of, login_of, new_key
from shared.errors import PermanentFault


def test_a_key_is_random_and_only_its_hash_is_kept() -> None:
    key, stored = new_key("acme", 1.0)
    other, _ = new_key("acme", 1.0)
    assert key.startswith("bs-")
    assert key != other
    assert len(key) >= 3 + 43
    assert key[3:] not in stored.model_dump_json()
    assert stored.digest == digest_of(key) != digest_of(other)


def test_an_admins_login_is_neither_the_key_nor_what_is_kept() -> None:
    key, stored = new_key("acme", 1.0, admin=True)
    login = login_of(key)
    assert stored.login == digest_of(login)
    assert len({key, login, stored.digest, stored.login}) == 4
    assert login not in stored.model_dump_json()
    assert new_key("acme", 1.0)[1].login is None


@pytest.mark.parametrize("tenant", ["", "a b", "a/b", "x" * 65, "ü", "a\n"])
def test_a_tenant_has_a_plain_name(tenant: str) -> None:
    with pytest.raises(ValidationError):
        new_key(tenant, 1.0)


async def test_a_file_keeps_keys_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "keys.json"
    store = FileKeys(path)
    key, stored = new_key("acme", 1.0)
    _, other = new_key("beta", 2.0)
    await store.save(stored)
    await store.save(other)
    assert await store.load() == [stored, other]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert key not in path.read_text()
    await store.save(stored.model_copy(update={"revoked": True}))
    assert by_digest(await store.load()) == {other.digest: "beta"}
    assert [p.name for p in path.parent.iterdir()] == ["keys.json"]


async def test_keys_that_are_added_at_once_are_all_there(tmp_path: Path) -> None:
    made = [new_key(f"t{i}", float(i))[1] for i in range(20)]
    await asyncio.gather(*(FileKeys(tmp_path / "keys.json").save(key) for key in made))
    assert sorted(k.id for k in await FileKeys(tmp_path / "keys.json").load()) == sorted(k.id for k in made)


@pytest.mark.parametrize("content", ["", "[]", '{"keys": [{"id": "x"}]}', "{"])
async def test_a_file_of_something_else_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(content)
    with pytest.raises(PermanentFault, match="holds no list of keys"):
        await FileKeys(path).load()


async def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PermanentFault, match="backscroll keys add"):
        await FileKeys(tmp_path / "keys.json").load()


def test_a_stored_key_says_nothing_it_should_not() -> None:
    assert set(StoredKey.model_fields) == {"id", "tenant", "digest", "created", "revoked", "login"}
