"""Eras on a real server: what was under way when its session was erased is dropped, undone, withdrawn."""

import asyncio
from pathlib import Path

import pytest

from shared.bus import CHUNKER, Bus, Delivery, Faulty, connect, provision
from shared.bus.embedded import NatsServer
from shared.bus.provisioning import expected
from shared.contracts.events import ExchangeRecorded, MessagesRecorded
from shared.errors import PermanentFault
from shared.prompt.plan import Layout
from shared.prompt.state import Tip
from shared.settings import Settings
from tests.integration.bus.events import dead_letters, incompressible, recorded, until
from tests.support.on_disk import files_with

Batch = list[Delivery[MessagesRecorded]]
LARGE = incompressible(600_000)


def record(era: int = 0, text: str = "SECRET") -> ExchangeRecorded:
    return ExchangeRecorded(tenant="t", session="s", record="r", era=era, at=1.0, body=f'"{text}"')


async def messages(bus: Bus, stream: str) -> int:
    return int((await bus.js.stream_info(stream)).state.messages)


async def test_an_era_is_the_sessions_own_and_only_grows(bus: Bus) -> None:
    assert await bus.erased.era("t", "s") == 0
    first = await bus.erased.erase("t", "s", 1.0)
    other = await bus.erased.erase("u", "s", 1.0)
    second = await bus.erased.erase("t", "s", 1.0)
    assert 0 < first < other < second
    assert await bus.erased.eras([recorded("s"), recorded("s2")]) == {("t", "s"): second, ("t", "s2"): 0}
    assert await bus.erased.era("t", "a.*.> b") == 0


async def test_what_is_dead_is_not_published(bus: Bus) -> None:
    era = await bus.erased.erase("t", "s", 1.0)
    await bus.publish_many([recorded("s"), recorded("s2"), record()])
    assert (await messages(bus, "MESSAGES"), await messages(bus, "RECORDS")) == (1, 0)
    await bus.publish_many([recorded("s").model_copy(update={"era": era}), record(era)])
    assert (await messages(bus, "MESSAGES"), await messages(bus, "RECORDS")) == (2, 1)


async def test_a_record_that_was_published_while_its_session_was_erased_is_withdrawn(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = bus.erased.living
    looked = 0

    async def living(events: list[ExchangeRecorded]) -> list[ExchangeRecorded]:
        nonlocal looked
        looked += 1
        found = await look(events)
        if looked == 1:
            await bus.erased.erase("t", "s", 1.0)
        return found

    monkeypatch.setattr(bus.erased, "living", living)
    await bus.publish(record(text=LARGE))
    assert looked == 2
    assert await messages(bus, "RECORDS") == 0
    assert await messages(bus, "OBJ_claims") == 0


async def test_what_is_erased_while_it_is_handled_is_undone(bus: Bus) -> None:
    """Its event, its claim and its dead letter too."""
    undone: list[tuple[str, int]] = []
    eras: list[int] = []

    async def handler(batch: Batch) -> list[Faulty]:
        if not eras:
            eras.append(await bus.erased.erase("t", "s", 1.0))
        return [Faulty(d, "{}", "no text") for d in batch]

    async def forget(event: MessagesRecorded, era: int) -> None:
        undone.append((event.session, era))

    await bus.publish(recorded("s", LARGE))
    await bus.consume(CHUNKER, handler, forget=forget)
    await until(lambda: bool(undone))
    await bus.publish(recorded("other"))
    async with asyncio.timeout(15):
        while await messages(bus, "DEADLETTERS") != 1 or await messages(bus, "MESSAGES") != 1:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert undone == [("s", eras[0])]
    last = await bus.js.get_last_msg("DEADLETTERS", "dl.v1.>")
    assert last.subject == "dl.v1.i-t.i-other.i-test"
    assert await messages(bus, "OBJ_claims") == 0


async def test_a_sweep_takes_one_session_and_its_past(tmp_path: Path) -> None:
    """And its bytes: out of the files of a server that goes on running."""
    server = await NatsServer.start(tmp_path)
    try:
        assert await provision(server.url, Settings()) == []
        bus = await connect(server.url, service="test")

        async def handler(batch: Batch) -> list[Faulty]:
            old = [d for d in batch if d.event.session != "kept" and not d.event.era]
            return [Faulty(d, '"SECRET item"', "no text") for d in old]

        await bus.publish_many([recorded("s", f"SECRET {n}") for n in range(5)])
        await bus.publish_many([recorded("s", f"SECRET {LARGE}"), record(), recorded("kept", "PUBLIC")])
        await bus.tips.put("aa", tip("s").model_dump_json().encode())
        await bus.tips.put("bb", tip("kept").model_dump_json().encode())
        await bus.consume(CHUNKER, handler)
        async with asyncio.timeout(15):
            while len(await dead_letters(bus)) < 6:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert await asyncio.to_thread(files_with, tmp_path, "SECRET")
        era = await bus.erased.erase("t", "s", 1.0)
        await bus.publish(recorded("s", "new").model_copy(update={"era": era}))
        swept = await bus.sweeper.sweep("t", "s", era)
        assert swept.streams == {"MESSAGES": 6, "CHUNKS": 0, "RECORDS": 1, "DEADLETTERS": 6}
        assert (swept.claims, swept.tips) == (1, 1)
        assert await asyncio.to_thread(files_with, tmp_path, "SECRET") == []
        assert await asyncio.to_thread(files_with, tmp_path, "PUBLIC")
        assert await bus.tips.get_many(["aa", "bb"]) == {"bb": tip("kept").model_dump_json().encode()}
        assert await messages(bus, "MESSAGES") == 2
        nothing = await bus.sweeper.sweep("t", "s", era)
        assert (sum(nothing.streams.values()), nothing.claims, nothing.tips) == (0, 0, 0)
        await bus.close()
    finally:
        await server.stop()


def tip(session: str) -> Tip:
    return Tip(
        tenant="t",
        session=session,
        length=1,
        layout=Layout(),
        tokens=1,
        exact=True,
        ratio=1.0,
        built_at=1.0,
    )


def test_each_stream_can_be_kept_for_a_time_of_its_own() -> None:
    settings = Settings(stream_max_age_s=1000, stream_max_ages={"RECORDS": 60, "DEADLETTERS": 9000})
    ages = {str(stream.name): stream.max_age for stream in expected(settings).streams}
    assert (ages["MESSAGES"], ages["RECORDS"], ages["DEADLETTERS"]) == (1000, 60, 9000)
    # What a letter names lives as long as the letter; what was under way dies before its tombstone.
    assert ages["OBJ_claims"] == 18_000
    assert ages["KV_erased"] == 86_400
    with pytest.raises(PermanentFault, match="there is no stream RECORD"):
        expected(Settings(stream_max_ages={"RECORD": 60}))
