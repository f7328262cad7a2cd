import asyncio
import threading

import pytest

from shared.models.worker import Stopped, Urgency, Worker


async def test_closing_ends_the_running_call_and_stops_those_that_wait() -> None:
    worker = Worker("test")
    go = threading.Event()
    running = asyncio.create_task(worker.run(Urgency.INGESTION, lambda: go.wait(5)))
    await asyncio.sleep(0.05)
    waiting = asyncio.create_task(worker.run(Urgency.QUERY, lambda: "never"))
    await asyncio.sleep(0)
    closing = asyncio.create_task(worker.close())
    await asyncio.sleep(0)
    go.set()
    await closing
    assert await running is True
    with pytest.raises(Stopped):
        await waiting
    with pytest.raises(Stopped):
        await worker.run(Urgency.QUERY, lambda: "never")


async def test_a_call_that_fails_leaves_the_worker_working() -> None:
    worker = Worker("test")

    def fail() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await worker.run(Urgency.QUERY, fail)
    assert await worker.run(Urgency.QUERY, lambda: 7) == 7
    await worker.close()
