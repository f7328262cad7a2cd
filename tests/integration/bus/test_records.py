import json

import pytest

from shared.bus import Bus, subjects
from shared.contracts.events import ExchangeRecorded
from shared.errors import DependencyUnavailable

ODD = "a.b *>"


def record(session: str, number: int, tenant: str = "acme") -> ExchangeRecorded:
    summary = json.dumps({"number": number, "question": "\u6e2f\u53e3?"})
    name = f"{session}-{number}"
    return ExchangeRecorded(
        tenant=tenant, session=session, record=name, at=1.0, body="x" * 2000, summary=summary
    )


@pytest.fixture
async def told(bus: Bus) -> Bus:
    for number in range(20):
        await bus.publish(record("chat", number))
        if number % 5 == 0:
            await bus.publish(record(ODD, number, tenant="b"))
    return bus


def tokens(session: str, tenant: str = "acme") -> tuple[str, str]:
    return subjects.token(tenant), subjects.token(session)


async def test_the_newest_come_first_with_what_their_headers_tell(told: Bus) -> None:
    page = await told.records.newest(None, 4)
    assert [seen.summary["number"] for seen in page.listed] == [19, 18, 17, 16]
    assert page.listed[0].summary["question"] == "\u6e2f\u53e3?"
    assert (page.listed[0].tenant, page.listed[0].session) == tokens("chat")
    assert page.listed[0].record == subjects.token("chat-19")
    assert page.listed[0].at > 1e9
    before = await told.records.newest(page.earlier, 4)
    assert [seen.summary["number"] for seen in before.listed] == [15, 15, 14, 13]
    whole = await told.records.newest(None, 100)
    assert (len(whole.listed), whole.earlier) == (24, None)


async def test_a_session_is_paged_through(told: Bus) -> None:
    numbers, before = [], None
    while True:
        page = await told.records.of_session(*tokens("chat"), before, 7)
        numbers.append([seen.summary["number"] for seen in page.listed])
        before = page.earlier
        if before is None:
            break
    assert numbers == [[*range(19, 12, -1)], [*range(12, 5, -1)], [*range(5, -1, -1)]]


async def test_sessions_are_counted_by_their_subjects(told: Bus) -> None:
    counted = await told.records.sessions()
    assert counted == {tokens("chat"): 20, tokens(ODD, "b"): 4}
    assert await told.records.count(*tokens("chat")) == 20
    last = await told.records.last(*tokens(ODD, "b"))
    assert last is not None
    assert last.summary["number"] == 15
    assert subjects.id_of(last.session) == ODD
    assert await told.records.count(*tokens("chat"), since=last.sequence) == 4


async def test_nothing_is_left_of_a_look(told: Bus) -> None:
    await told.records.of_session(*tokens("chat"), None, 3)
    assert (await told.js.stream_info(subjects.RECORDS)).state.consumer_count == 0


async def test_what_is_not_there_is_empty(bus: Bus) -> None:
    assert await bus.records.newest(None, 10) == await bus.records.of_session("i-a", "i-b", None, 10)
    assert await bus.records.last("i-a", "i-b") is None
    assert not await bus.records.sessions()


async def test_without_the_stream_it_is_unavailable(bus: Bus) -> None:
    await bus.js.delete_stream(subjects.RECORDS)
    with pytest.raises(DependencyUnavailable):
        await bus.records.newest(None, 10)
    with pytest.raises(DependencyUnavailable):
        await bus.records.sessions()
