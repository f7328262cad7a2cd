"""Waiting for what happens beside the requests."""

import asyncio
from collections.abc import Awaitable, Callable

STEP_S = 0.02


async def eventually(happened: Callable[[], bool | Awaitable[bool]], within_s: float = 20) -> None:
    for _ in range(int(within_s / STEP_S)):
        answer = happened()
        if answer if isinstance(answer, bool) else await answer:
            return
        await asyncio.sleep(STEP_S)
    raise AssertionError(f"not within {within_s:g} s")
