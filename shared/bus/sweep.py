"""Deleting what a session left on the bus, so that its bytes are gone from the server's files too.

A purge only forgets where messages are; their bytes stay in the file until its block is written anew.
Deleting a message by its number overwrites it at once. So messages are deleted one by one.
"""

from collections.abc import Mapping
from typing import NamedTuple

import nats.js.errors
from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg

from shared.bus import subjects
from shared.bus.claims import CLAIM, Claims
from shared.bus.erased import Erased
from shared.bus.state import State
from shared.bus.stored import event_of
from shared.bus.unavailable import unavailable
from shared.contracts.events import OfSession
from shared.prompt.state import Tip


class Swept(NamedTuple):
    streams: dict[str, int]
    claims: int
    tips: int


class Sweeper:
    """Raises `DependencyUnavailable("bus_unavailable", ...)`; repeating is harmless."""

    def __init__(self, js: JetStreamContext, claims: Claims, tips: State, erased: Erased) -> None:
        self._js = js
        self._claims = claims
        self._tips = tips
        self._erased = erased

    async def sweep(self, tenant: str, session: str, before: int) -> Swept:
        """Everything of the session that is of an era below `before`."""
        streams, claims = {}, 0
        for stream in subjects.HOLDS:
            found, more = await self._stream(stream, subjects.pattern(stream, tenant, session), before)
            streams[stream], claims = found, claims + more

        def left_by_session(value: bytes) -> bool:
            tip = Tip.model_validate_json(value)
            return tip.session == session and tip.tenant == tenant and tip.era < before

        return Swept(streams, claims, await self._tips.discard(left_by_session))

    async def _stream(self, stream: str, subject: str, before: int) -> tuple[int, int]:
        """Messages and claims."""
        at = messages = claims = 0
        while (message := await self._next(stream, subject, at + 1)) is not None:
            at = int(message.seq or 0)
            if await self._era(stream, message) < before:
                messages += 1
                claims += await self.wipe(stream, at, message.headers)
        return messages, claims

    async def _next(self, stream: str, subject: str, sequence: int) -> RawStreamMsg | None:
        with unavailable(stream):
            try:
                return await self._js.get_msg(stream, sequence, subject=subject, next=True)
            except nats.js.errors.NotFoundError:
                return None

    async def _is_there(self, stream: str, sequence: int) -> bool:
        try:
            await self._js.get_msg(stream, sequence)
        except nats.js.errors.NotFoundError:
            return False
        return True

    async def _era(self, stream: str, message: RawStreamMsg) -> int:
        event = await event_of(self._claims, stream, message.data or b"", message.headers)
        # What nobody can read is of no use to anybody.
        return -1 if event is None else event.era

    async def wipe(self, stream: str, sequence: int, headers: Mapping[str, str] | None) -> int:
        """Overwrite and delete a message and its claim. How many claims there were."""
        claims = await self._claims.erase(headers) if headers and CLAIM in headers else 0
        with unavailable(stream):
            try:
                await self._js.delete_msg(stream, sequence)
            except nats.js.errors.APIError:
                # The server has several codes for what is gone already, and shares them with failures.
                if await self._is_there(stream, sequence):
                    raise
        return claims

    async def withdraw(self, stream: str, sequence: int, event: OfSession, claim: Mapping[str, str]) -> None:
        """For who has just published: what was erased meanwhile goes again."""
        if not await self._erased.living([event]):
            await self.wipe(stream, sequence, claim)
