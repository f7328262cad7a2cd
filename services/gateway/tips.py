"""Finding the tip that a request inherits from, and leaving its own (ADR 0001)."""

from collections import OrderedDict

import structlog

from services.gateway.request import Request
from shared.bus.state import State
from shared.conversation.history import RoleCode
from shared.errors import DependencyUnavailable
from shared.prompt.state import Tip

log = structlog.get_logger(__name__)

NEWEST = 32
TIPS_PER_SESSION = 8
"""Tips kept in memory for each of `max_sessions` conversations: forks, retries and side calls."""


def candidate_lengths(request: Request) -> list[int]:
    """Lengths of prefixes at which a request could have ended, longest first.

    The newest 32, then at doubling distance: a client that edits far back still finds an ancestor.
    """
    roles = request.shape.roles
    n = len(roles)
    lengths = [n - back for back in range(n) if roles[n - 1 - back] != RoleCode.ASSISTANT][:NEWEST]
    if not lengths:
        return [n]
    distance = n - lengths[-1] + 1
    while distance < n:
        length = n - distance
        while length > 0 and roles[length - 1] == RoleCode.ASSISTANT:
            length -= 1
        if 0 < length < lengths[-1]:
            lengths.append(length)
        distance *= 2
    return lengths


class Tips:
    """Newest tips in memory, all of them in the bus's key-value bucket."""

    def __init__(self, state: State, max_sessions: int) -> None:
        self._state = state
        self._memory: OrderedDict[bytes, Tip] = OrderedDict()
        self._size = max_sessions * TIPS_PER_SESSION

    async def find(self, request: Request) -> Tip | None:
        """The tip of the request's longest prefix that has one.

        Raises `DependencyUnavailable("bus_unavailable", ...)` only where memory has none either.
        """
        lengths = candidate_lengths(request)
        known = next((n for n in lengths if request.chain[n - 1] in self._memory), None)
        longer = [n for n in lengths if known is None or n > known]
        try:
            stored = await self._stored(request, longer)
        except DependencyUnavailable:
            if known is None:
                raise
            stored = None
        if stored is not None:
            return stored
        return self._memory[request.chain[known - 1]] if known is not None else None

    async def _stored(self, request: Request, lengths: list[int]) -> Tip | None:
        keys = {n: request.chain[n - 1].hex() for n in lengths}
        values = await self._state.get_many(keys.values())
        for n in lengths:
            value = values.get(keys[n])
            if value is not None:
                tip = Tip.model_validate_json(value)
                self._remember(request.chain[n - 1], tip)
                return tip
        return None

    def remember(self, request: Request, tip: Tip) -> None:
        """In memory alone: for chats that are too short to touch the bus."""
        self._remember(request.chain[-1], tip)

    async def put(self, request: Request, tip: Tip) -> None:
        self._remember(request.chain[-1], tip)
        await self._state.put(request.chain[-1].hex(), tip.model_dump_json().encode())

    def _remember(self, key: bytes, tip: Tip) -> None:
        self._memory[key] = tip
        self._memory.move_to_end(key)
        if len(self._memory) > self._size:
            self._memory.popitem(last=False)
