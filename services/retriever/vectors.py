"""Vectors of search texts: with a deadline, and not asked for twice."""

import asyncio
from collections import OrderedDict

from shared.conversation.address import text_digest
from shared.errors import DependencyUnavailable, PermanentFault
from shared.models.port import Embedder, Vector


class QueryVectors:
    """The newest `size` vectors. Waiting for an index, a drift check and its rebuild ask for one text."""

    def __init__(self, embedder: Embedder, timeout_s: float, size: int) -> None:
        self._embedder = embedder
        self._timeout_s = timeout_s
        self._size = size
        self._known: OrderedDict[tuple[str, str], Vector] = OrderedDict()

    async def get(self, tenant: str, text: str) -> Vector | None:
        """None where the model server does not answer in time or refuses: then terms serve alone."""
        # By a digest: a search text is what somebody wrote, and that can be erased.
        key = (tenant, text_digest(text))
        if (vector := self._known.get(key)) is not None:
            self._known.move_to_end(key)
            return vector
        try:
            async with asyncio.timeout(self._timeout_s):
                vector = await self._embedder.query(text)
        except (TimeoutError, DependencyUnavailable, PermanentFault):
            return None
        self._known[key] = vector
        if len(self._known) > self._size:
            self._known.popitem(last=False)
        return vector
