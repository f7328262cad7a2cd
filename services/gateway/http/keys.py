"""API keys: who may use the gateway, and as which tenant.

A key is 256 random bits, so a plain fast hash of it is safe to keep: there is nothing to guess, and no
table of guesses to look it up in. A slow hash protects passwords, and would cost every request.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shared.bus.state import State
from shared.errors import PermanentFault
from shared.settings import Settings

PREFIX = "bs-"
PERSON = b"backscroll-keys1"
LOGIN_PERSON = b"backscroll-login"


class StoredKey(BaseModel):
    """What is kept of a key. Revoked ones stay: a gateway whose last key is revoked does not open."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[0-9a-f]{12}$")
    tenant: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    created: float
    """Seconds since the epoch."""
    revoked: bool = False
    login: str | None = Field(None, pattern=r"^[0-9a-f]{64}$")
    """Of an admin's key: the digest of its login."""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    keys: tuple[StoredKey, ...] = ()


class KeyStore(Protocol):
    async def load(self) -> list[StoredKey]:
        """Raises `DependencyUnavailable`, or `PermanentFault` for what is not a list of keys."""

    async def save(self, key: StoredKey) -> None:
        """Add, or replace the one of the same id."""


def digest_of(key: str) -> str:
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=32, person=PERSON).hexdigest()


def login_of(key: str) -> str:
    """What a browser keeps of an admin's key. The key cannot be made of it, nor it of what is kept here."""
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=32, person=LOGIN_PERSON).hexdigest()


def new_key(tenant: str, at: float, admin: bool = False) -> tuple[str, StoredKey]:
    """The key, told once, and what is kept of it. Raises `ValidationError` for a name of no tenant."""
    key = PREFIX + secrets.token_urlsafe(32)
    digest = digest_of(key)
    login = digest_of(login_of(key)) if admin else None
    return key, StoredKey(id=digest[:12], tenant=tenant, digest=digest, created=at, login=login)


def key_store(settings: Settings, state: State) -> KeyStore:
    return FileKeys(settings.keys_file) if settings.keys_file else BucketKeys(state)


class FileKeys:
    """A JSON file that only its owner reads, replaced whole."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def load(self) -> list[StoredKey]:
        return await asyncio.to_thread(self._load)

    async def save(self, key: StoredKey) -> None:
        await asyncio.to_thread(self._save, key)

    def _load(self) -> list[StoredKey]:
        try:
            return list(_File.model_validate_json(self._path.read_bytes()).keys)
        except FileNotFoundError as error:
            raise PermanentFault(f"{self._path} does not exist; `backscroll keys add` makes it") from error
        except OSError as error:
            raise PermanentFault(f"{self._path} cannot be read: {type(error).__name__}") from error
        except ValidationError as error:
            raise PermanentFault(f"{self._path} holds no list of keys") from error

    def _save(self, key: StoredKey) -> None:
        with self._locked():
            known = self._load() if self._path.exists() else []
            kept = _File(keys=(*(k for k in known if k.id != key.id), key))
            new = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}")
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(kept.model_dump_json(indent=1))
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._path)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Two who add at once must not lose each other's key."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)


class BucketKeys:
    """The bucket `keys`, for gateways on several machines."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def load(self) -> list[StoredKey]:
        values = await self._state.all()
        try:
            return [StoredKey.model_validate_json(value) for value in values.values()]
        except ValidationError as error:
            raise PermanentFault("the bucket 'keys' holds what is no key") from error

    async def save(self, key: StoredKey) -> None:
        await self._state.put(key.id, key.model_dump_json().encode())


def by_digest(keys: Iterable[StoredKey]) -> dict[str, str]:
    """Tenant of each key that is in force."""
    return {key.digest: key.tenant for key in keys if not key.revoked}
