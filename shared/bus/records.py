"""Finding records without reading them: subjects tell whose they are, a header what lists show of them.

Every list is bounded by the caller. Consumers are nameless, in the server's memory and gone after use.
"""

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import nats.js.errors
import orjson
from nats.aio.client import Client
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from shared.bus import subjects
from shared.bus.claims import Claims
from shared.bus.codec import decode
from shared.bus.unavailable import unavailable
from shared.contracts.events import ExchangeRecorded
from shared.errors import DependencyUnavailable

SUMMARY = "Backscroll-Summary"
FETCH = 256
FETCH_S = 5.0
UNUSED_S = 30.0


@dataclass(frozen=True)
class Listed:
    """`tenant`, `session` and `record` are tokens of the subject (shared/bus/subjects.py)."""

    sequence: int
    tenant: str
    session: str
    record: str
    at: float
    """When the stream got it, seconds since the epoch."""
    summary: dict[str, Any] = field(hash=False)
    """Empty for a record that was published without one."""


@dataclass(frozen=True)
class Page:
    listed: tuple[Listed, ...]
    """Newest first."""
    earlier: int | None
    """`before` of the page before this one; None at the first."""


class Records:
    """Raises `DependencyUnavailable("bus_unavailable", ...)` where the stream does not answer."""

    def __init__(self, connection: Client, claims: Claims, require_connection: Callable[[], None]) -> None:
        self._connection = connection
        self._js = connection.jetstream()
        self._claims = claims
        self._require_connection = require_connection

    async def read(self, tenant: str, record: str) -> ExchangeRecorded | None:
        """By the subject index, whatever the session; None where there is none (ADR 0005)."""
        self._require_connection()
        with unavailable("find a record"):
            try:
                found = await self._js.get_last_msg(subjects.RECORDS, f"ev.v1.{tenant}.*.record.{record}")
            except nats.js.errors.NotFoundError:
                return None
        return decode(ExchangeRecorded, await self._claims.check_out(found.data or b"", found.headers))

    async def newest(self, before: int | None, most: int) -> Page:
        """What the `most` sequences before `before` hold; erased ones leave gaps."""
        first, end = await self._range()
        end = min(end, before) if before is not None else end
        start = max(first, end - most)
        listed = await self._read(subjects.STREAM_SUBJECTS[subjects.RECORDS], start, end)
        return Page(listed, start if start > first else None)

    async def of_session(self, tenant: str, session: str, before: int | None, most: int) -> Page:
        """The newest of one session before `before`."""
        subject = _records_of(tenant, session)
        first, end = await self._range()
        end = min(end, before) if before is not None else end
        beyond, total = await asyncio.gather(self._pending(subject, end), self._pending(subject, first))
        start = first
        if total - beyond > most:
            # A filtered consumer tells how many are at or after its start: the start is found by halving.
            low, high = first, end
            while low < high:
                middle = (low + high) // 2
                if await self._pending(subject, middle) - beyond > most:
                    low = middle + 1
                else:
                    high = middle
            start = low
        listed = await self._read(subject, start, end)
        return Page(listed, listed[-1].sequence if listed and total - beyond > most else None)

    async def last(self, tenant: str, session: str) -> Listed | None:
        page = await self.of_session(tenant, session, None, 1)
        return page.listed[0] if page.listed else None

    async def count(self, tenant: str, session: str, since: int = 0) -> int:
        """Records of a session at or after a sequence."""
        return await self._pending(_records_of(tenant, session), since)

    async def sessions(self) -> Counter[tuple[str, str]]:
        """Tenant and session of every record there is, with their number: from the index of subjects."""
        self._require_connection()
        found: Counter[tuple[str, str]] = Counter()
        offset = 0
        while True:
            asked = {"subjects_filter": subjects.STREAM_SUBJECTS[subjects.RECORDS], "offset": offset}
            with unavailable("list sessions"):
                # The client's own `stream_info` knows no offset, and the server tells 100,000 at a time.
                reply = await self._connection.request(
                    f"$JS.API.STREAM.INFO.{subjects.RECORDS}", orjson.dumps(asked), timeout=FETCH_S
                )
            # Megabytes: they would hold up every request of the process.
            counted, told, total = await asyncio.to_thread(_counted, reply.data)
            found += counted
            offset += told
            if not told or offset >= total:
                return found

    async def _range(self) -> tuple[int, int]:
        """The first sequence, and the one after the last."""
        self._require_connection()
        with unavailable("list records"):
            state = (await self._js.stream_info(subjects.RECORDS)).state
        return int(state.first_seq), int(state.last_seq) + 1

    async def _pending(self, subject: str, start: int) -> int:
        async with self._consumer(subject, start) as (_, pending):
            return pending

    async def _read(self, subject: str, start: int, end: int) -> tuple[Listed, ...]:
        found: list[Listed] = []
        async with self._consumer(subject, start) as (name, pending):
            if not pending or start >= end:
                return ()
            bound = await self._js.pull_subscribe_bind(name, stream=subjects.RECORDS)
            try:
                while pending > 0:
                    messages = await bound.fetch(min(pending, FETCH), timeout=FETCH_S)
                    pending -= len(messages)
                    for message in messages:
                        if message.metadata.sequence.stream >= end:
                            pending = 0
                            break
                        found.append(_listed(message))
            finally:
                await bound.unsubscribe()
        return tuple(reversed(found))

    @asynccontextmanager
    async def _consumer(self, subject: str, start: int) -> AsyncIterator[tuple[str, int]]:
        """Its name, and how many messages are before it. Bodies are not sent."""
        self._require_connection()
        name = f"list-{uuid.uuid4().hex}"
        with unavailable("list records"):
            made = await self._js.add_consumer(
                subjects.RECORDS,
                ConsumerConfig(
                    name=name,
                    filter_subject=subject,
                    deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
                    opt_start_seq=max(start, 1),
                    headers_only=True,
                    ack_policy=AckPolicy.NONE,
                    mem_storage=True,
                    num_replicas=1,
                    inactive_threshold=UNUSED_S,
                ),
            )
            try:
                yield name, int(made.num_pending or 0)
            finally:
                with suppress(nats.js.errors.NotFoundError):
                    await self._js.delete_consumer(subjects.RECORDS, name)


def _records_of(tenant: str, session: str) -> str:
    return f"ev.v1.{tenant}.{session}.record.*"


def _counted(info: bytes) -> tuple[Counter[tuple[str, str]], int, int]:
    """Records by session of one answer, the subjects that it names, the subjects there are."""
    told: dict[str, Any] = orjson.loads(info)
    if "error" in told:
        raise DependencyUnavailable("bus_unavailable", "list sessions: the server refuses")
    names = told["state"].get("subjects") or {}
    sessions = Counter((name.split(".")[2], name.split(".")[3]) for name in names)
    return sessions, len(names), int(told.get("total", 0))


def _listed(message: Any) -> Listed:
    _, _, tenant, session, _, record = message.subject.split(".")
    at = message.metadata.timestamp.timestamp()
    summary = orjson.loads((message.headers or {}).get(SUMMARY, "{}"))
    return Listed(message.metadata.sequence.stream, tenant, session, record, at, summary)
