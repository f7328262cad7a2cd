"""Which sessions were erased, and when: what was under way before stays dead (ADR 0017).

The bucket `erased` has an entry for each erased session. Its revision is the session's *era*: a request reads
it when it comes, and all that the request leads to carries it. What carries an older era than the session has
now was said before the erasure, whatever any clock says. A session without an entry is in era 0.
"""

import asyncio
from collections.abc import Iterable
from typing import Protocol, TypeVar

import nats.js.errors

from shared.bus.bucket import Bucket
from shared.bus.subjects import token
from shared.bus.unavailable import unavailable


class OfEra(Protocol):
    """What was said in a session."""

    @property
    def tenant(self) -> str: ...
    @property
    def session(self) -> str: ...
    @property
    def era(self) -> int: ...


Said = TypeVar("Said", bound=OfEra)
Session = tuple[str, str]
"""Tenant and session."""


class Erased(Bucket):
    async def era(self, tenant: str, session: str) -> int:
        bucket = await self._kv()
        with unavailable(self._bucket):
            try:
                return int((await bucket.get(_key(tenant, session))).revision or 0)
            except nats.js.errors.KeyNotFoundError:
                return 0

    async def eras(self, events: Iterable[OfEra]) -> dict[Session, int]:
        """Of the events' sessions, in one round trip."""
        sessions = list(dict.fromkeys((event.tenant, event.session) for event in events))
        found = await asyncio.gather(*(self.era(*session) for session in sessions))
        return dict(zip(sessions, found, strict=True))

    async def living(self, events: Iterable[Said]) -> list[Said]:
        """Those that no erasure came after."""
        given = list(events)
        eras = await self.eras(given)
        return [event for event in given if event.era >= eras[event.tenant, event.session]]

    async def erase(self, tenant: str, session: str, at: float) -> int:
        """Begins a new era; tells which."""
        bucket = await self._kv()
        with unavailable(self._bucket):
            return int(await bucket.put(_key(tenant, session), f"{at:.3f}".encode()))


def _key(tenant: str, session: str) -> str:
    return f"{token(tenant)}.{token(session)}"
