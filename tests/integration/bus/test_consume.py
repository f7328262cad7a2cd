"""Delivery on a real server: what is handled, held, handed back and given up."""

import asyncio
import time

import pytest

from shared.bus import CHUNKER, Bus, Delivery, Faulty, connect, settle
from shared.bus.provisioning import ensure, expected
from shared.contracts.events import MessagesRecorded
from shared.errors import DependencyUnavailable, PermanentFault
from shared.settings import Settings
from shared.telemetry import DEAD_LETTERS
from tests.integration.bus.events import all_settled, dead_letters, recorded, unsettled, until

Batch = list[Delivery[MessagesRecorded]]


def sessions(batch: Batch) -> list[str]:
    return [d.event.session for d in batch]


async def test_a_burst_comes_in_batches_and_once(bus: Bus) -> None:
    batches: list[list[str]] = []

    async def handler(batch: Batch) -> None:
        batches.append(sessions(batch))

    await bus.publish_many(recorded(f"s{i}") for i in range(300))
    await bus.consume(CHUNKER, handler, max_messages=64)
    await all_settled(bus.js)
    assert sorted(s for b in batches for s in b) == sorted(f"s{i}" for i in range(300))
    assert max(map(len, batches)) <= 64
    assert len(batches) <= 10


async def test_a_lone_message_is_not_kept_waiting(bus: Bus) -> None:
    delays: list[float] = []

    async def handler(batch: Batch) -> None:
        delays.extend(time.time() - d.event.at for d in batch)

    await bus.consume(CHUNKER, handler)
    for i in range(10):
        await bus.publish(recorded(f"s{i}", at=time.time()))
        await asyncio.sleep(0.03)
    await all_settled(bus.js)
    assert len(delays) == 10
    assert sorted(delays)[5] < 0.2


async def test_an_unknown_error_is_delivered_again_later_and_later_then_given_up(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settle, "FIRST_DELAY_S", 0.1)
    times: dict[str, list[float]] = {}

    async def handler(batch: Batch) -> None:
        for session in sessions(batch):
            times.setdefault(session, []).append(time.monotonic())
        if "bad" in sessions(batch):
            raise KeyError("the user's words")

    await bus.publish_many([recorded("good"), recorded("bad")])
    await bus.consume(CHUNKER, handler)
    await all_settled(bus.js)
    # Once with the good one, once alone, then four redeliveries; the good one is not delivered again.
    assert len(times["bad"]) == 6
    assert len(times["good"]) == 2
    gaps = [b - a for a, b in zip(times["bad"][1:], times["bad"][2:], strict=False)]
    assert all(gap >= 0.1 * 2**n for n, gap in enumerate(gaps))
    letters = await dead_letters(bus)
    assert [x.reason for x in letters] == ["KeyError, 5 deliveries"]


async def test_a_permanent_fault_is_found_by_bisection_and_the_rest_is_settled(bus: Bus) -> None:
    done: set[str] = set()

    async def handler(batch: Batch) -> None:
        if "s5" in sessions(batch):
            raise PermanentFault("cannot be chunked")
        done.update(sessions(batch))

    before = DEAD_LETTERS.labels("test")._value.get()
    await bus.publish_many(recorded(f"s{i}") for i in range(16))
    await bus.consume(CHUNKER, handler)
    await all_settled(bus.js)
    assert done == {f"s{i}" for i in range(16)} - {"s5"}
    (letter,) = await dead_letters(bus)
    assert (letter.stream, letter.service) == ("MESSAGES", "test")
    assert letter.reason == "permanent_fault: cannot be chunked"
    assert MessagesRecorded.model_validate_json(letter.item).session == "s5"
    assert DEAD_LETTERS.labels("test")._value.get() == before + 1


async def test_a_faulty_item_is_given_up_alone(bus: Bus) -> None:
    async def handler(batch: Batch) -> list[Faulty]:
        return [Faulty(batch[0], item='{"address": "1"}', reason="no text")]

    await bus.publish(recorded("s"))
    await bus.consume(CHUNKER, handler)
    await all_settled(bus.js)
    (letter,) = await dead_letters(bus)
    assert (letter.item, letter.reason) == ('{"address": "1"}', "no text")


async def test_a_body_that_is_no_event_is_given_up_and_the_others_are_handled(bus: Bus) -> None:
    done: list[str] = []

    async def handler(batch: Batch) -> None:
        done.extend(sessions(batch))

    await bus.js.publish("ev.v1.i-t.i-s.messages", b"not zstd")
    await bus.publish(recorded("good"))
    await bus.consume(CHUNKER, handler)
    await all_settled(bus.js)
    assert done == ["good"]
    (letter,) = await dead_letters(bus)
    assert (letter.sequence, letter.item) == (1, "")


async def test_a_handler_slower_than_ack_wait_runs_once(bus: Bus, nats_url: str) -> None:
    await ensure(bus.js, expected(Settings(), ack_wait_s=0.6), update=True)
    replica = await connect(nats_url, service="test")
    runs: list[str] = []

    async def handler(batch: Batch) -> None:
        runs.extend(sessions(batch))
        await asyncio.sleep(2)

    await bus.publish(recorded("a"))
    await bus.consume(CHUNKER, handler)
    await until(lambda: runs == ["a"])
    # Idle, so that it is given whatever the server takes for abandoned.
    await replica.consume(CHUNKER, handler)
    await all_settled(bus.js)
    await replica.close()
    assert runs == ["a"]


async def test_while_a_dependency_is_down_the_batch_is_held_and_nothing_is_fetched(bus: Bus) -> None:
    await ensure(bus.js, expected(Settings(), ack_wait_s=0.6), update=True)
    down = True
    tried: list[list[str]] = []
    done: list[Delivery[MessagesRecorded]] = []

    async def handler(batch: Batch) -> None:
        tried.append(sessions(batch))
        if down:
            raise DependencyUnavailable("embed_unavailable", "connection refused")
        done.extend(batch)

    await bus.publish_many(recorded(f"s{i}") for i in range(20))
    await bus.consume(CHUNKER, handler, max_messages=4)
    await until(lambda: len(tried) >= 3)
    await asyncio.sleep(1.5)
    assert all(batch == tried[0] for batch in tried)
    down = False
    await all_settled(bus.js)
    assert sorted(sessions(done)) == sorted(f"s{i}" for i in range(20))
    assert {d.deliveries for d in done} == {1}
    assert await dead_letters(bus) == []


async def test_replicas_share_a_durable(bus: Bus, nats_url: str) -> None:
    other = await connect(nats_url, service="test")
    done: dict[str, list[str]] = {"one": [], "other": []}

    def handler_of(name: str):  # type: ignore[no-untyped-def]
        async def handler(batch: Batch) -> None:
            await asyncio.sleep(0.01)
            done[name].extend(sessions(batch))

        return handler

    await bus.consume(CHUNKER, handler_of("one"), max_messages=4)
    await other.consume(CHUNKER, handler_of("other"), max_messages=4)
    await bus.publish_many(recorded(f"s{i}") for i in range(100))
    await all_settled(bus.js)
    await other.close()
    assert sorted(done["one"] + done["other"]) == sorted(f"s{i}" for i in range(100))
    assert min(len(done["one"]), len(done["other"])) > 20


async def test_closing_lets_the_handler_finish_and_leaves_the_rest(bus: Bus, nats_url: str) -> None:
    closing = await connect(nats_url, service="test")
    started = asyncio.Event()
    finished: list[str] = []

    async def slow(batch: Batch) -> None:
        started.set()
        await asyncio.sleep(0.5)
        finished.extend(sessions(batch))

    await bus.publish_many(recorded(f"s{i}") for i in range(10))
    await closing.consume(CHUNKER, slow, max_messages=4)
    await started.wait()
    await closing.close()
    assert len(finished) == 4
    assert await unsettled(bus.js) == 6


async def test_closing_hands_a_held_batch_back(bus: Bus, nats_url: str) -> None:
    closing = await connect(nats_url, service="test")
    held = asyncio.Event()

    async def down(batch: Batch) -> None:
        held.set()
        raise DependencyUnavailable("embed_unavailable", "connection refused")

    done: list[Delivery[MessagesRecorded]] = []

    async def up(batch: Batch) -> None:
        done.extend(batch)

    await bus.publish_many([recorded("a"), recorded("b")])
    await closing.consume(CHUNKER, down)
    await held.wait()
    await closing.close()
    await bus.consume(CHUNKER, up)
    # Far less than the 30 s that the server waits for an acknowledgement.
    await all_settled(bus.js, timeout_s=5)
    assert sorted(sessions(done)) == ["a", "b"]
    assert await dead_letters(bus) == []


async def test_readiness_asks_for_the_durable(bus: Bus) -> None:
    async def handler(batch: Batch) -> None: ...

    await bus.consume(CHUNKER, handler)
    await bus.ready()
    await bus.js.delete_consumer("MESSAGES", "chunker")
    with pytest.raises(DependencyUnavailable) as error:
        await bus.ready()
    assert error.value.part == "bus_unavailable"
