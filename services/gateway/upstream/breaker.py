"""Leaves an engine alone that failed too often in a row, so that clients learn it at once.

closed  --`FAILURES` in a row-->  open  --after `DELAY_S`, one request tries-->  closed, or open again
"""

import math
import time
from collections.abc import Callable

import structlog

from shared.errors import EngineOpen
from shared.telemetry import ENGINE_OPENED

log = structlog.get_logger(__name__)

FAILURES = 5
DELAY_S = 10.0


class Breaker:
    def __init__(self, engine: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._clock = clock
        self._failures = 0
        self._next_try = 0.0

    @property
    def open(self) -> bool:
        return self._failures >= FAILURES

    def admit(self) -> None:
        """Raises `EngineOpen`. While open one request in `DELAY_S` passes, whatever becomes of it."""
        if not self.open:
            return
        now = self._clock()
        if now < self._next_try:
            wait = math.ceil(self._next_try - now)
            raise EngineOpen(f"The engine failed {FAILURES} times in a row; try again in {wait} s.", wait)
        self._next_try = now + DELAY_S

    def succeeded(self) -> None:
        if self.open:
            log.info("engine answers again", engine=self._engine)
        self._failures = 0

    def failed(self) -> None:
        self._failures += 1
        self._next_try = self._clock() + DELAY_S
        if self._failures == FAILURES:
            ENGINE_OPENED.labels(engine=self._engine).inc()
            log.warning("engine is left alone", engine=self._engine, failures=self._failures)
