"""Which sessions are listed, page by page, over records in memory."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.inspector import sessions
from services.gateway.inspector.sessions import Overview, matching, newest
from shared.bus import subjects
from shared.bus.records import Listed, Page


class Stream:
    """As `Records` answers, of records whose sessions are given in the order of the stream."""

    def __init__(self, labels: Sequence[str], tenant: str = "acme") -> None:
        self.listed = [
            Listed(n, subjects.token(tenant), subjects.token(label), f"i-{n}", float(n), {"session": label})
            for n, label in enumerate(labels, start=1)
        ]

    async def newest(self, before: int | None, most: int) -> Page:
        end = min(len(self.listed) + 1, before or len(self.listed) + 1)
        start = max(1, end - most)
        return Page(tuple(self.listed[start - 1 : end - 1][::-1]), start if start > 1 else None)

    async def last(self, tenant: str, session: str) -> Listed | None:
        return next((s for s in self.listed[::-1] if (s.tenant, s.session) == (tenant, session)), None)

    async def count(self, tenant: str, session: str, since: int = 0) -> int:
        return sum((s.tenant, s.session) == (tenant, session) and s.sequence >= since for s in self.listed)

    async def sessions(self) -> Counter[tuple[str, str]]:
        return Counter((s.tenant, s.session) for s in self.listed)


async def paged(stream: Stream) -> list[Overview]:
    pages = [await newest(stream, None)]  # type: ignore[arg-type]
    while pages[-1].before is not None:
        pages.append(await newest(stream, pages[-1].before))  # type: ignore[arg-type]
    return pages


@given(st.lists(st.sampled_from("abcdefghij"), max_size=60))
async def test_every_session_is_listed_once_the_newest_first(labels: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "PER_PAGE", 3)
        patch.setattr(sessions, "SCANNED", 4)
        patch.setattr(sessions, "MOST_SCANS", 2)
        pages = await paged(Stream(labels))
    shown = [session for page in pages for session in page.sessions]
    assert [s.label for s in shown] == list(dict.fromkeys(labels[::-1]))
    assert {s.label: s.requests for s in shown} == Counter(labels)
    assert all(len(page.sessions) <= 3 for page in pages)
    assert len(pages) <= len(labels) + 1


async def test_a_session_is_found_by_a_part_of_its_label_or_by_its_tenant() -> None:
    stream = Stream(["Garden-plan", "港口", "kitchen", "garden-plan-2", "Garden-plan"])
    found = await matching(stream, "garden")  # type: ignore[arg-type]
    assert [(s.label, s.requests) for s in found.sessions] == [("Garden-plan", 2), ("garden-plan-2", 1)]
    assert [s.label for s in (await matching(stream, "口")).sessions] == ["港口"]  # type: ignore[arg-type]
    assert len((await matching(stream, "ACM")).sessions) == 4  # type: ignore[arg-type]
    assert (await matching(stream, "cellar")).sessions == []  # type: ignore[arg-type]


async def test_a_long_label_is_found_by_all_of_it() -> None:
    long = "a label of more than forty bytes, which only a hash is kept of"
    stream = Stream([long])
    assert [s.label for s in (await matching(stream, long)).sessions] == [long]  # type: ignore[arg-type]
    assert (await matching(stream, long[:20])).sessions == []  # type: ignore[arg-type]


async def test_too_many_matches_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_MATCHES", 2)
    found = await matching(Stream(["x1", "x2", "x3", "y"]), "x")  # type: ignore[arg-type]
    assert (len(found.sessions), found.unshown) == (2, 1)
