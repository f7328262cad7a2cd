"""Dead letters as an operator sees them, on a real server."""

import json
from typing import Any

import pytest

from shared.bus import CHUNKER, Bus, Delivery, Faulty
from shared.contracts.events import MessagesRecorded
from shared.errors import PermanentFault
from tests.integration.backscroll.conftest import Operator
from tests.integration.bus.events import all_settled, incompressible, recorded

Batch = list[Delivery[MessagesRecorded]]


@pytest.fixture(autouse=True)
def short_fetches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.bus.consume.FETCH_S", 0.2)


def buries(operator: Operator, *events: MessagesRecorded) -> None:
    """The events are published and given up as wholes."""

    async def work(bus: Bus) -> None:
        async def handler(batch: Batch) -> None:
            raise PermanentFault("cannot be chunked")

        await bus.publish_many(events)
        await bus.consume(CHUNKER, handler)
        await all_settled(bus.js)

    operator.on_bus(work)


def handled(operator: Operator) -> list[MessagesRecorded]:
    """What is on the stream and was not settled yet."""
    got: list[MessagesRecorded] = []

    async def work(bus: Bus) -> None:
        async def handler(batch: Batch) -> None:
            got.extend(d.event for d in batch)

        await bus.consume(CHUNKER, handler)
        await all_settled(bus.js)

    operator.on_bus(work)
    return got


def listed(operator: Operator, *filters: str) -> list[dict[str, Any]]:
    done = operator.command("deadletters", "list", "--json", *filters)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_they_are_listed_by_tenant_session_service_and_time(operator: Operator) -> None:
    buries(operator, recorded("a"), recorded("b"), recorded("a.*.>"))
    assert [(x["tenant"], x["session"], x["service"]) for x in listed(operator)] == [
        ("t", "a", "test"),
        ("t", "b", "test"),
        ("t", "a.*.>", "test"),
    ]
    assert {x["reason"] for x in listed(operator)} == {"permanent_fault: cannot be chunked"}
    for filters, count in (
        (("--session", "a"), 1),
        (("--session", "a.*.>"), 1),
        (("--tenant", "t", "--session", "b"), 1),
        (("--tenant", "other"), 0),
        (("--service", "test"), 3),
        (("--service", "chunker"), 0),
        (("--since", "10m"), 3),
        (("--until", "10m"), 0),
        (("--since", "2020-01-01", "--until", "2020-01-02T03:04"), 0),
        (("--session", "chat 漢字/1"), 0),
    ):
        assert len(listed(operator, *filters)) == count, filters
    table = operator.command("deadletters", "list").stdout
    assert "cannot be chunked" in table
    assert "hello" not in table
    assert operator.command("deadletters", "list", "--since", "yesterday").exit_code == 2


def test_one_is_shown_with_what_failed_and_the_original(operator: Operator) -> None:
    async def work(bus: Bus) -> None:
        async def handler(batch: Batch) -> list[Faulty]:
            return [Faulty(batch[0], item='{"address": "1"}', reason="no text")]

        await bus.publish(recorded("s", text=incompressible(400_000)))
        await bus.consume(CHUNKER, handler)
        await all_settled(bus.js)

    operator.on_bus(work)
    told = json.loads(operator.command("deadletters", "show", "1", "--json").stdout)
    assert told["failed"] == {"address": "1"}
    assert told["event"]["messages"][0]["units"][0]["text"] == incompressible(400_000)
    assert "no text" in operator.command("deadletters", "show", "1").stdout
    assert operator.command("deadletters", "show", "2").exit_code == 1


def test_a_retry_publishes_the_original_once(operator: Operator) -> None:
    events = [recorded("s"), recorded("t", text=incompressible(400_000))]
    buries(operator, *events)
    first = operator.command("deadletters", "retry", "1", "2")
    assert first.exit_code == 0, first.output
    assert first.stdout.splitlines() == [
        "1: published again as MESSAGES 3",
        "2: published again as MESSAGES 4",
    ]
    again = operator.command("deadletters", "retry", "1", "2")
    assert again.exit_code == 0
    assert again.stdout.count("is not there") == 2
    assert listed(operator) == []
    assert handled(operator) == events


def test_a_retry_after_the_original_has_aged_out(operator: Operator) -> None:
    buries(operator, recorded("whole"))

    async def work(bus: Bus) -> None:
        async def handler(batch: Batch) -> list[Faulty]:
            return [Faulty(batch[0], item='{"address": "1"}', reason="no text")]

        await bus.publish(recorded("part"))
        await bus.consume(CHUNKER, handler)
        await all_settled(bus.js)
        await bus.js.purge_stream("MESSAGES")

    operator.on_bus(work)
    done = operator.command("deadletters", "retry", "--all")
    assert done.exit_code == 1
    assert "1: published again as MESSAGES 3" in done.stdout
    assert "2: kept" in done.stdout
    assert [x["number"] for x in listed(operator)] == [2]
    assert "is gone from the stream" in operator.command("deadletters", "show", "2").stdout
    assert [event.session for event in handled(operator)] == ["whole"]


def test_dropping_asks_first(operator: Operator) -> None:
    buries(operator, recorded("a"), recorded("b"), recorded("c"))
    assert operator.command("deadletters", "drop", "1", answer="n\n").exit_code == 1
    assert len(listed(operator)) == 3
    assert operator.command("deadletters", "drop", "1", answer="y\n").exit_code == 0
    assert operator.command("deadletters", "drop", "--all", "--session", "b", "--yes").exit_code == 0
    assert [x["session"] for x in listed(operator)] == ["c"]
    assert operator.command("deadletters", "drop", "--yes").exit_code == 1
    assert operator.command("deadletters", "drop", "3", "--all", "--yes").exit_code == 1


def test_where_no_server_is_named(operator: Operator, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.delenv("BACKSCROLL_NATS_URL")
    lost = operator.command("deadletters", "list", "--data", str(tmp_path))
    assert lost.exit_code == 1
    assert "No `backscroll up` runs" in lost.output
    # As a running `backscroll up` leaves it.
    (tmp_path / "nats").mkdir()
    (tmp_path / "nats" / "url").write_text(operator.url)
    assert operator.command("deadletters", "list", "--data", str(tmp_path)).exit_code == 0
