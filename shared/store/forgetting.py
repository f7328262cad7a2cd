"""What leaves the store, and who is told: who said a text decides whether it may go (ADR 0017)."""

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from shared.store.mapping import Where, identity_id, identity_point
from shared.store.operations import Operations
from shared.store.port import Forgotten

BATCH = 1000
"""Messages forgotten at a time."""
IDENTITY_S = 5.0
"""How long an identity is believed: as late may a conversation find out that something went."""


class Forgetting(Operations):
    def __init__(self, name: str, dim: int) -> None:
        super().__init__(name, dim)
        self._identities: dict[str, tuple[str, float]] = {}

    async def identity(self, tenant: str) -> str:
        known = self._identities.get(tenant)
        if known is not None and time.monotonic() < known[1]:
            return known[0]
        where = Where(tenant, ids=[identity_id(tenant)])
        rows = await self._all(where, ["identity"])
        if not rows:
            # Two services may start at once: the first one's stays, and both read it.
            await self._upsert([identity_point(tenant)], insert_only=True)
            rows = await self._all(where, ["identity"])
        identity = f"{self.name}/{rows[0].payload['identity']}"
        self._identities[tenant] = identity, time.monotonic() + IDENTITY_S
        return identity

    async def forget(
        self, tenant: str, session: str, before: int, addresses: Sequence[int] = ()
    ) -> Forgotten:
        done = await self._unsay(Where(tenant, form="said", session=session, era_below=before))
        late = await self._unsaid(tenant, set(addresses)) if addresses else []
        more = await self._drop(tenant, late)
        return Forgotten(done.messages + more.messages, done.chunks + more.chunks, done.kept)

    async def expire(self, before: float) -> Forgotten:
        return await self._unsay(Where(None, form="said", said_before=before))

    async def _unsay(self, said: Where) -> Forgotten:
        messages = chunks = kept = 0
        while True:
            rows, _ = await self._page(said, ["tenant", "address"], False, BATCH, None)
            if not rows:
                return Forgotten(messages, chunks, kept)
            by_tenant: defaultdict[str, set[int]] = defaultdict(set)
            for row in rows:
                by_tenant[row.payload["tenant"]].add(row.payload["address"])
            for tenant, addresses in by_tenant.items():
                await self._delete(replace(said, tenant=tenant, addresses=sorted(addresses)))
                gone = await self._unsaid(tenant, addresses)
                kept += len(addresses) - len(gone)
                dropped = await self._drop(tenant, gone)
                messages, chunks = messages + dropped.messages, chunks + dropped.chunks

    async def _unsaid(self, tenant: str, addresses: set[int]) -> list[int]:
        rows = await self._all(Where(tenant, addresses=sorted(addresses), form="said"), ["address"])
        return sorted(addresses - {row.payload["address"] for row in rows})

    async def _drop(self, tenant: str, addresses: Sequence[int]) -> Forgotten:
        if not addresses:
            return Forgotten()
        # Markers first: one that outlived its chunks would hide for ever that they are missing.
        markers = Where(tenant, addresses=addresses, form="marker")
        chunks = Where(tenant, addresses=addresses, form="chunk")
        dropped = Forgotten(await self._count(markers), await self._count(chunks))
        await self._delete(markers)
        await self._delete(chunks)
        # Who said one of these at this very moment found its chunks there and wrote none. A new identity
        # makes every conversation of the tenant look again, and publish what is missing.
        self._identities.pop(tenant, None)
        await self._upsert([identity_point(tenant)], insert_only=False)
        return dropped
