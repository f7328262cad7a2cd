"""Finding the tip that a request inherits from, and leaving its own (ADR 0001)."""

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from itertools import islice

from services.gateway.reading.request import Request
from shared.bus.erased import Erased
from shared.bus.state import State
from shared.conversation.history import RoleCode
from shared.errors import DependencyUnavailable
from shared.prompt.state import Tip

NEWEST = 32
TIPS_PER_SESSION = 8
"""Tips kept in memory for each of `max_sessions` conversations: forks, retries and side calls."""


def candidate_lengths(request: Request) -> list[int]:
    """Lengths of prefixes at which a request could have ended, longest first.

    The newest 32, then at doubling distance: a client that edits far back still finds an ancestor.
    """
    roles = request.shape.roles.tobytes()
    n = len(roles)
    ends = (length for length in range(n, 0, -1) if roles[length - 1] != RoleCode.ASSISTANT)
    lengths = list(islice(ends, NEWEST)) or [n]
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

    def __init__(self, state: State, erased: Erased, max_sessions: int) -> None:
        self._state = state
        self._erased = erased
        self._memory: OrderedDict[bytes, Tip] = OrderedDict()
        self._size = max_sessions * TIPS_PER_SESSION

    async def era(self, request: Request, session: str) -> int:
        """Which era of its session the request is of; where nobody answers 0, which is before any erasure."""
        with suppress(DependencyUnavailable):
            return await self._erased.era(request.reader.tenant, session)
        return 0

    async def find(self, request: Request, session: str, era: int) -> Tip | None:
        """The tip of the request's longest prefix that has one; none that its own session left before it was
        erased.

        Raises `DependencyUnavailable("bus_unavailable", ...)` only where memory has none either.
        """

        def lives(tip: Tip) -> bool:
            return tip.session != session or tip.era == era

        lengths = candidate_lengths(request)
        keys = request.prefixes(lengths)
        inside = (n for n in lengths if (tip := self._memory.get(keys[n])) is not None and lives(tip))
        known = next(inside, None)
        longer = [keys[n] for n in lengths if known is None or n > known]
        try:
            stored = await self._stored(longer, lives)
        except DependencyUnavailable:
            if known is None:
                raise
            stored = None
        if stored is not None:
            return stored
        return self._memory[keys[known]] if known is not None else None

    async def _stored(self, keys: list[bytes], lives: Callable[[Tip], bool]) -> Tip | None:
        """The first that the bucket has and that lives."""
        values = await self._state.get_many(key.hex() for key in keys)
        for key in keys:
            value = values.get(key.hex())
            if value is not None:
                tip = Tip.model_validate_json(value)
                if lives(tip):
                    self._remember(key, tip)
                    return tip
        return None

    def remember(self, request: Request, tip: Tip) -> None:
        """In memory alone: for chats that are too short to touch the bus."""
        self._remember(request.tip_key, tip)

    async def put(self, request: Request, tip: Tip) -> None:
        """Not in the bucket where its session was erased since."""
        self._remember(request.tip_key, tip)
        if await self._erased.era(tip.tenant, tip.session) <= tip.era:
            await self._state.put(request.tip_key.hex(), tip.model_dump_json().encode())

    def _remember(self, key: bytes, tip: Tip) -> None:
        self._memory[key] = tip
        self._memory.move_to_end(key)
        if len(self._memory) > self._size:
            self._memory.popitem(last=False)
