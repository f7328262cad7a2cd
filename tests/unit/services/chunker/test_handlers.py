from collections.abc import Iterable
from typing import cast

import pytest

from services.chunker import handlers
from services.chunker.chunk import Limits
from services.chunker.handlers import EVENT_BYTES, Handlers
from shared.bus import Bus, Delivery
from shared.contracts.base import Contract, Kind, Role
from shared.contracts.events import ChunksCreated, MessagesRecorded, RecordedMessage, Unit
from shared.tokens.estimate import Coefficients

LIMITS = Limits(768, 2.5, Coefficients())


class RecordingBus:
    def __init__(self) -> None:
        self.published: list[ChunksCreated] = []

    async def publish_many(self, events: Iterable[Contract]) -> None:
        self.published += cast("Iterable[ChunksCreated]", events)


def message(number: int, *units: str) -> RecordedMessage:
    return RecordedMessage(
        address=f"{number:032x}",
        role=Role.USER,
        units=tuple(Unit(unit=i, kind=Kind.USER, text=text) for i, text in enumerate(units)),
    )


def delivery(*messages: RecordedMessage) -> Delivery[MessagesRecorded]:
    event = MessagesRecorded(tenant="t", session="s", at=12.5, messages=messages)
    return Delivery(event, "MESSAGES", 1, 1)


@pytest.fixture
def bus() -> RecordingBus:
    return RecordingBus()


@pytest.fixture
def chunker(bus: RecordingBus) -> Handlers:
    return Handlers(cast(Bus, bus), LIMITS)


async def test_every_message_comes_out_in_order_with_its_origin(bus: RecordingBus, chunker: Handlers) -> None:
    assert (
        await chunker.messages_recorded([delivery(message(1, "one"), message(2)), delivery(message(3, "x"))])
        == []
    )
    assert [(e.tenant, e.session, e.at, [m.address[-1] for m in e.messages]) for e in bus.published] == [
        ("t", "s", 12.5, ["1", "2"]),
        ("t", "s", 12.5, ["3"]),
    ]
    assert bus.published[0].messages[1].chunks == ()


async def test_events_are_bounded_and_no_message_is_divided(bus: RecordingBus, chunker: Handlers) -> None:
    small = "汉" * 20_000
    giant = "word " * EVENT_BYTES
    await chunker.messages_recorded([delivery(*(message(i, small) for i in range(9)), message(10, giant))])
    sizes = [[sum(len(c.text.encode()) for c in m.chunks) for m in e.messages] for e in bus.published]
    assert [len(event) for event in sizes] == [4, 4, 1, 1]
    assert sizes[-1] == [len(giant)]


async def test_a_redelivery_publishes_the_same_bytes(bus: RecordingBus, chunker: Handlers) -> None:
    batch = [delivery(*(message(i, f"text {i}\n" * 3000) for i in range(30)))]
    await chunker.messages_recorded(batch)
    first, bus.published = bus.published, []
    await chunker.messages_recorded([delivery(message(99, "other")), *batch])
    assert [e.model_dump_json() for e in bus.published[1:]] == [e.model_dump_json() for e in first]


async def test_a_message_that_cannot_be_chunked_is_given_up_alone(
    bus: RecordingBus, chunker: Handlers
) -> None:
    bad = message(2, "a", "b").model_copy(update={"units": message(2, "a").units * 2})
    batch = [delivery(message(1, "good"), bad, message(3, "good"))]
    (faulty,) = await chunker.messages_recorded(batch)
    assert faulty.delivery is batch[0]
    assert RecordedMessage.model_validate_json(faulty.item) == bad
    (event,) = bus.published
    assert [(len(m.chunks), m.faulty is None) for m in event.messages] == [(1, True), (0, False), (1, True)]


async def test_the_reason_of_an_unknown_error_holds_no_text(
    bus: RecordingBus, chunker: Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(message: RecordedMessage, limits: Limits) -> None:
        raise RuntimeError(message.units[0].text)

    monkeypatch.setattr(handlers, "chunk_message", broken)
    (faulty,) = await chunker.messages_recorded([delivery(message(1, "secret"))])
    assert faulty.reason == bus.published[0].messages[0].faulty == "RuntimeError"


async def test_nothing_recorded_nothing_published(bus: RecordingBus, chunker: Handlers) -> None:
    assert await chunker.messages_recorded([delivery()]) == []
    assert bus.published == []
