"""A store read whole, for another one to be filled from it."""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple
from uuid import UUID

from shared.contracts.events import Chunk, ChunkedMessage
from shared.store.forgetting import Forgetting
from shared.store.mapping import CHUNK, Where
from shared.store.port import Origin

PAGE = 500
"""Said messages at a time; a message has some two chunks, a giant one thousands."""


class Said(NamedTuple):
    origin: Origin
    address: int


class Copying(Forgetting):
    async def said_count(self) -> int:
        """Of all tenants."""
        return await self._count(Where(None, form="said"))

    async def said(self) -> AsyncIterator[list[Said]]:
        """Who said what, of all tenants; what is said meanwhile may be left out."""
        fields = ["tenant", "session", "era", "at", "address"]
        offset: UUID | str | int | None = None
        while True:
            rows, offset = await self._page(Where(None, form="said"), fields, False, PAGE, offset)
            yield [Said(Origin(p["tenant"], p["session"], p["at"], p["era"]), p["address"]) for p, _ in rows]
            if offset is None:
                return

    async def messages(self, tenant: str, addresses: Sequence[int]) -> list[ChunkedMessage]:
        """Without those whose chunks are still being written, which have no marker."""
        if not addresses:
            return []
        markers = await self._all(Where(tenant, addresses=addresses, form="marker"), ["content_address"])
        rows = await self._all(Where(tenant, addresses=addresses, form="chunk"), CHUNK)
        chunks: defaultdict[str, list[Chunk]] = defaultdict(list)
        for payload, _ in sorted(rows, key=lambda row: (row.payload["unit"], row.payload["part"])):
            address = payload["content_address"]
            chunks[address].append(Chunk(address=address, **{f: payload[f] for f in CHUNK[1:]}))
        found = sorted(row.payload["content_address"] for row in markers)
        return [ChunkedMessage(address=address, chunks=tuple(chunks[address])) for address in found]
