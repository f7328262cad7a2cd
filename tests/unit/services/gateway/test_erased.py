"""A gateway before, at and after the erasure of a session."""

import asyncio

from tests.support.pipeline import Pipeline
from tests.unit.services.gateway.test_sessions import Message, assistant, notes, published, question

WINDOW = 4096


def history(last: int = 120) -> list[Message]:
    return [*notes("A", 0, last), question("A", 3)]


def erase(pipeline: Pipeline, session: str) -> int:
    pipeline.state.eras[pipeline.tenant, session] += 1
    return pipeline.state.eras[pipeline.tenant, session]


async def test_another_session_publishes_what_it_says_too() -> None:
    """Or it would go with the first one."""
    pipeline = Pipeline(WINDOW)
    await pipeline.ask(history(), "first")
    before = len(published(pipeline))
    await pipeline.ask(history(), "first")
    assert len(published(pipeline)) == before
    await pipeline.ask(history(), "second")
    assert sorted(published(pipeline)) == sorted(published(pipeline)[:before] * 2)
    await pipeline.ask([*history(), assistant("Pier A4."), question("A", 5)], "second")
    assert len(published(pipeline)) == 2 * before + 2


async def test_a_client_that_names_each_request_anew_does_not_publish_all_of_it_each_time() -> None:
    pipeline = Pipeline(WINDOW)
    for request in range(20):
        await pipeline.ask(history(), f"request-{request}")
    assert len(published(pipeline)) == 8 * len(history())


async def test_after_its_erasure_a_session_begins_anew() -> None:
    pipeline = Pipeline(WINDOW)
    first = await pipeline.ask(history(), "s")
    again = await pipeline.ask([*history(), assistant("Pier A8."), question("A", 5)], "s")
    assert again.parent is not None
    before = len(published(pipeline))
    era = erase(pipeline, "s")
    anew = await pipeline.ask([*history(), assistant("Pier A8."), question("A", 5)], "s")
    assert (anew.parent, anew.era) == (None, era)
    assert {event.era for event in pipeline.bus.published} == {0, era}
    assert len(published(pipeline)) == 2 * before
    assert first.tip is not None
    assert anew.tip is not None
    assert (first.tip.session, first.tip.era, anew.tip.era) == ("s", 0, era)
    more = [*history(), assistant("Pier A8."), question("A", 5), assistant("A7."), question("A", 9)]
    assert (await pipeline.ask(more, "s")).parent is not None


async def test_a_gateway_that_begins_anew_takes_no_state_from_before_either() -> None:
    pipeline = Pipeline(WINDOW)
    await pipeline.ask(history(), "s")
    assert pipeline.state.values
    erase(pipeline, "s")
    pipeline.restart()
    assert (await pipeline.ask(history(), "s")).parent is None
    # A fork under another name said the same, and may go on from it.
    pipeline.restart()
    assert (await pipeline.ask(history(), "fork")).parent is not None


async def test_a_request_that_runs_meanwhile_leaves_no_state() -> None:
    pipeline = Pipeline(WINDOW)
    put = pipeline.state.put

    async def erased_first(key: str, value: bytes) -> None:
        raise AssertionError("written after the erasure")

    call = pipeline.bus.call

    async def erases(*arguments: object, **named: object) -> object:
        erase(pipeline, "s")
        return await call(*arguments, **named)  # type: ignore[arg-type]

    pipeline.bus.call = erases  # type: ignore[method-assign,assignment]
    pipeline.state.put = erased_first  # type: ignore[method-assign]
    await pipeline.ask(history(), "s")
    pipeline.state.put = put  # type: ignore[method-assign]
    pipeline.bus.call = call  # type: ignore[method-assign]
    assert pipeline.state.values == {}
    assert (await pipeline.ask(history(), "s")).parent is None


async def test_a_request_that_runs_meanwhile_does_not_wait_for_what_never_comes() -> None:
    pipeline = Pipeline(WINDOW)
    pipeline.settings = pipeline.settings.model_copy(update={"embed_wait_s": 60.0})
    pipeline.restart()
    # What is under way of an erased session is dropped.
    pipeline.bus.lossy = True
    call = pipeline.bus.call

    async def erases(*arguments: object, **named: object) -> object:
        if not pipeline.state.eras:
            erase(pipeline, "s")
        return await call(*arguments, **named)  # type: ignore[arg-type]

    pipeline.bus.call = erases  # type: ignore[method-assign,assignment]
    async with asyncio.timeout(10):
        prepared = await pipeline.ask(history(), "s")
    assert "index_incomplete" in prepared.degraded


async def test_where_the_bus_is_away_what_is_left_counts_as_before() -> None:
    pipeline = Pipeline(WINDOW)
    era = erase(pipeline, "s")
    pipeline.state.down = True
    away = await pipeline.ask(history(), "s")
    assert away.era == 0
    pipeline.state.down = False
    back = await pipeline.ask(history(), "s")
    assert (back.era, back.parent) == (era, None)
