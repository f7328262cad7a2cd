import asyncio
import time

import pytest

from shared.bus import ASSEMBLE, RERANK, Bus, connect
from shared.bus.embedded import NatsServer
from shared.contracts.rpc import Rerank, Reranked
from shared.errors import DependencyUnavailable, InvalidRequest, PermanentFault
from tests.integration.bus.events import incompressible


def request(history: bytes = b"", query: str = "q") -> Rerank:
    return Rerank(tenant="t", history=history, query=query, chunks=(), chars=600)


async def test_a_request_gets_its_reply(bus: Bus, nats_url: str) -> None:
    async def rerank(asked: Rerank) -> Reranked:
        return Reranked(scores=(float(len(asked.query)),))

    server = await connect(nats_url, service="retriever")
    try:
        await server.serve(RERANK, rerank)
        replies = await asyncio.gather(
            *(bus.call(RERANK, request(query="x" * n), timeout_s=5) for n in range(50))
        )
    finally:
        await server.close()
    assert [r.scores for r in replies] == [(float(n),) for n in range(50)]


async def test_a_replica_that_serves_is_found_at_once(bus: Bus, nats_url: str) -> None:
    async def rerank(_: Rerank) -> Reranked:
        return Reranked()

    for _ in range(25):
        replica = await connect(nats_url, service="retriever")
        try:
            await replica.serve(RERANK, rerank)
            assert await bus.call(RERANK, request(), timeout_s=5) == Reranked()
        finally:
            await replica.close()


async def test_bodies_over_the_servers_limit_go_both_ways(bus: Bus) -> None:
    big = incompressible(1024 * 1024)

    async def rerank(asked: Rerank) -> Reranked:
        assert asked.query == big
        return Reranked(degraded=(asked.query,))

    await bus.serve(RERANK, rerank)
    reply = await bus.call(RERANK, request(query=big), timeout_s=10)
    assert reply.degraded == (big,)
    assert bus.is_connected


async def test_requests_are_handled_at_the_same_time(bus: Bus) -> None:
    async def rerank(asked: Rerank) -> Reranked:
        await asyncio.sleep(0.3)
        return Reranked()

    await bus.serve(RERANK, rerank)
    started = time.monotonic()
    await asyncio.gather(*(bus.call(RERANK, request(query=str(i)), timeout_s=5) for i in range(20)))
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    ("raised", "kind", "part", "says"),
    [
        (
            DependencyUnavailable("embed_unavailable", "down"),
            DependencyUnavailable,
            "embed_unavailable",
            "down",
        ),
        (PermanentFault("no such thing"), PermanentFault, None, "no such thing"),
        (InvalidRequest("bad field"), PermanentFault, None, "bad field"),
        (KeyError("the user's words"), DependencyUnavailable, "rerank_unavailable", "KeyError"),
    ],
)
async def test_what_a_handler_raises_is_raised_at_the_caller(
    bus: Bus, raised: Exception, kind: type[Exception], part: str | None, says: str
) -> None:
    async def rerank(asked: Rerank) -> Reranked:
        raise raised

    await bus.serve(RERANK, rerank)
    with pytest.raises(kind, match=says) as error:
        await bus.call(RERANK, request(), timeout_s=5)
    assert getattr(error.value, "part", None) == part
    assert "the user's words" not in str(error.value)


async def test_nobody_who_answers_is_known_at_once(bus: Bus) -> None:
    started = time.monotonic()
    with pytest.raises(DependencyUnavailable) as error:
        await bus.call(RERANK, request(), timeout_s=30)
    assert error.value.part == "rerank_unavailable"
    assert time.monotonic() - started < 5
    assert ASSEMBLE.part == "assembler_unavailable"


async def test_a_slow_answer_is_a_timeout(bus: Bus) -> None:
    async def rerank(asked: Rerank) -> Reranked:
        await asyncio.sleep(1)
        return Reranked()

    await bus.serve(RERANK, rerank)
    with pytest.raises(DependencyUnavailable, match=r"no answer in 0\.2 s") as error:
        await bus.call(RERANK, request(), timeout_s=0.2)
    assert error.value.part == "rerank_unavailable"
    reply = await bus.call(RERANK, request(), timeout_s=5)
    assert reply == Reranked()


async def test_a_body_that_is_no_request_is_refused(bus: Bus) -> None:
    async def rerank(asked: Rerank) -> Reranked:
        raise AssertionError("has nothing to handle")

    await bus.serve(RERANK, rerank)
    answer = await bus.broker.request(b"not zstd", RERANK.subject, timeout=5)
    assert answer.headers["Backscroll-Failed"] == "1"


async def test_a_server_that_dies_ends_the_calls_that_wait(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    server = await NatsServer.start(tmp_path_factory.mktemp("dies"))
    bus = await connect(server.url, service="test")
    asked = asyncio.Event()

    async def rerank(_: Rerank) -> Reranked:
        asked.set()
        await asyncio.sleep(0.5)
        return Reranked()

    await bus.serve(RERANK, rerank)
    call = asyncio.create_task(bus.call(RERANK, request(), timeout_s=60))
    await asked.wait()
    server.process.kill()
    started = time.monotonic()
    with pytest.raises(DependencyUnavailable) as error:
        await call
    assert error.value.part == "bus_unavailable"
    with pytest.raises(DependencyUnavailable):
        await bus.call(RERANK, request(), timeout_s=60)
    assert time.monotonic() - started < 5
    await bus.close()
    await server.stop()
