"""One thread, the most urgent call first."""

import asyncio
import itertools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from enum import IntEnum
from typing import Any, TypeVar

T = TypeVar("T")


class Urgency(IntEnum):
    """Smaller goes first."""

    STOP = 0
    QUERY = 1
    INGESTION = 2


class Stopped(Exception):
    """The worker was closed before the call began."""


class Worker:
    """Runs calls one at a time in a thread of its own; equal urgency in the order of arrival.

    A call that nobody waits for any more is dropped before it starts, never in its middle.
    """

    def __init__(self, name: str) -> None:
        self._calls: queue.PriorityQueue[tuple[Urgency, int, Callable[[], Any], Future[Any]]] = (
            queue.PriorityQueue()
        )
        self._order = itertools.count()
        self._closed = False
        # A daemon: a long batch must not keep the process from ending.
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    async def run(self, urgency: Urgency, call: Callable[[], T]) -> T:
        """Raises what the call raises, or `Stopped`."""
        if self._closed:
            raise Stopped
        future: Future[T] = Future()
        self._calls.put((urgency, next(self._order), call, future))
        return await asyncio.wrap_future(future)

    async def close(self) -> None:
        """The running call ends; those that wait are stopped."""
        self._closed = True
        self._calls.put((Urgency.STOP, next(self._order), lambda: None, Future()))
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        while True:
            urgency, _, call, future = self._calls.get()
            if urgency is Urgency.STOP:
                break
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(call())
            except Exception as error:
                future.set_exception(error)
        while not self._calls.empty():
            _, _, _, future = self._calls.get()
            if future.set_running_or_notify_cancel():
                future.set_exception(Stopped())
