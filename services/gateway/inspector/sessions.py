"""Which sessions there are, newest first; found by label where one is asked for."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from shared.bus import subjects
from shared.bus.records import Listed, Records

PER_PAGE = 25
SCANNED = 400
"""Records that are looked at in one go; a busy session fills many."""
MOST_SCANS = 10
MOST_MATCHES = 50
AT_ONCE = 8
T = TypeVar("T")


@dataclass(frozen=True)
class Session:
    tenant: str
    label: str
    last: Listed
    requests: int


@dataclass(frozen=True)
class Overview:
    sessions: list[Session]
    before: int | None = None
    """Where the next page begins; None at the end."""
    unshown: int = 0
    """Sessions that match too."""


async def newest(records: Records, before: int | None) -> Overview:
    """Sessions whose newest record is before `before`, by the time of that."""
    found: dict[tuple[str, str], Listed] = {}
    cursor = before
    for _ in range(MOST_SCANS):
        page = await records.newest(cursor, SCANNED)
        fresh: dict[tuple[str, str], Listed] = {}
        for seen in page.listed:
            if (seen.tenant, seen.session) not in found:
                fresh.setdefault((seen.tenant, seen.session), seen)
        if before is not None:
            fresh = await _ended(records, fresh, before)
        found |= fresh
        cursor = page.earlier
        if cursor is None or len(found) >= PER_PAGE:
            break
    shown = list(found.values())[:PER_PAGE]
    if len(found) > PER_PAGE:
        cursor = shown[-1].sequence
    return Overview(await _told(records, shown), cursor)


async def matching(records: Records, asked: str) -> Overview:
    """Tenant or label holds what is asked for. A label of more than 40 bytes is found by all of it."""
    needle, exact = asked.casefold(), subjects.token(asked)
    counted = await records.sessions()
    names = [
        (tenant, session)
        for tenant, session in counted
        if session == exact
        or needle in subjects.id_of(session).casefold()
        or needle in subjects.id_of(tenant).casefold()
    ]
    last = await _gathered([records.last(*name) for name in names[:MOST_MATCHES]])
    seen = sorted((one for one in last if one is not None), key=lambda one: -one.sequence)
    return Overview(await _told(records, seen), unshown=max(len(names) - MOST_MATCHES, 0))


async def _ended(
    records: Records, found: dict[tuple[str, str], Listed], before: int
) -> dict[tuple[str, str], Listed]:
    """Without those that went on later: a page before this one shows them."""
    later = await _gathered([records.count(*name, since=before) for name in found])
    return {name: seen for (name, seen), more in zip(found.items(), later, strict=True) if not more}


async def _told(records: Records, seen: Sequence[Listed]) -> list[Session]:
    counts = await _gathered([records.count(one.tenant, one.session) for one in seen])
    return [
        Session(subjects.id_of(one.tenant), label_of(one), one, count)
        for one, count in zip(seen, counts, strict=True)
    ]


def label_of(seen: Listed) -> str:
    """The whole label where the record tells it; a long one's token is a hash."""
    return str(seen.summary.get("session") or subjects.id_of(seen.session))


async def _gathered(work: Sequence[Awaitable[T]]) -> list[T]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(each: Awaitable[T]) -> T:
        async with gate:
            return await each

    return await asyncio.gather(*map(one, work))
