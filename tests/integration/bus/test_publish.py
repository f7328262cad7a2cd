import pytest
from nats.js.api import StreamConfig

from shared.bus import CHUNKER, Bus, Delivery, connect
from shared.bus.claims import CLAIM, MAX_INLINE
from shared.contracts.events import ExchangeRecorded, MessagesRecorded
from shared.errors import DependencyUnavailable
from tests.integration.bus.events import all_settled, dead_letters, incompressible, recorded

MIB = 1024 * 1024


async def stored(bus: Bus, stream: str) -> int:
    return int((await bus.js.stream_info(stream)).state.messages)


async def test_equal_events_are_kept_once_whenever_they_are_published(bus: Bus) -> None:
    await bus.publish(recorded("s", at=1.0))
    await bus.publish(recorded("s", at=2.0))
    await bus.publish_many([recorded("s", at=3.0), recorded("s", text="other"), recorded("s2")])
    assert await stored(bus, "MESSAGES") == 3


async def test_a_record_has_its_own_subject(bus: Bus) -> None:
    await bus.publish(ExchangeRecorded(tenant="t", session="s", record="r1", at=0, body="{}"))
    message = await bus.js.get_last_msg("RECORDS", "ev.v1.*.*.record.i-r1")
    assert message.subject == "ev.v1.i-t.i-s.record.i-r1"


async def test_a_large_body_goes_by_claim_check_and_the_connection_survives(bus: Bus) -> None:
    events = [recorded("small"), recorded("large", incompressible(MIB)), recorded("after")]
    got: list[MessagesRecorded] = []

    async def handler(batch: list[Delivery[MessagesRecorded]]) -> None:
        got.extend(d.event for d in batch)

    await bus.publish_many(events)
    message = await bus.js.get_last_msg("MESSAGES", "ev.v1.i-t.i-large.messages")
    assert CLAIM in message.headers
    assert len(message.data or b"") < MAX_INLINE
    await bus.consume(CHUNKER, handler)
    await all_settled(bus.js)
    assert sorted(got, key=lambda e: e.session) == sorted(events, key=lambda e: e.session)
    assert bus.is_connected


async def test_one_byte_more_than_the_server_takes(bus: Bus) -> None:
    body = bytes(MIB + 1)
    inline, headers = await bus.claims.check_in(body)
    assert inline == b""
    assert await bus.claims.check_out(inline, headers) == body
    again = await bus.claims.check_in(body)
    assert again == (inline, headers)
    assert bus.is_connected


async def test_a_claim_that_is_gone_is_a_dead_letter(bus: Bus) -> None:
    async def handler(batch: list[Delivery[MessagesRecorded]]) -> None:
        raise AssertionError("has nothing to handle")

    await bus.publish(recorded("large", incompressible(MIB)))
    await bus.js.purge_stream("OBJ_claims")
    await bus.consume(CHUNKER, handler)
    await all_settled(bus.js)
    (letter,) = await dead_letters(bus)
    assert "is gone" in letter.reason


async def test_a_missing_stream_is_an_error_and_not_a_silent_loss(bus: Bus) -> None:
    await bus.js.delete_stream("MESSAGES")
    with pytest.raises(DependencyUnavailable) as error:
        await bus.publish(recorded("s"))
    assert error.value.part == "bus_unavailable"


async def test_a_failure_among_many_is_raised_and_the_others_are_published(bus: Bus) -> None:
    await bus.js.delete_stream("RECORDS")
    record = ExchangeRecorded(tenant="t", session="s", record="r1", at=0, body="{}")
    with pytest.raises(DependencyUnavailable):
        await bus.publish_many([record, recorded("a"), recorded("b")])
    assert await stored(bus, "MESSAGES") == 2


async def test_a_subject_of_another_stream_is_refused(bus: Bus) -> None:
    await bus.js.delete_stream("MESSAGES")
    await bus.js.add_stream(StreamConfig(name="OTHER", subjects=["ev.v1.*.*.messages"]))
    with pytest.raises(DependencyUnavailable):
        await bus.publish(recorded("s"))


async def test_connecting_to_nothing_fails_soon(unused_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.bus.broker.CONNECT_S", 0.5)
    with pytest.raises(DependencyUnavailable):
        await connect(f"nats://127.0.0.1:{unused_port}", service="test")
