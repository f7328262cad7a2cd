"""What nobody has published for `store_max_age_s` leaves the store.

A conversation that still holds it publishes it again: a new identity of the store tells it to look.
"""

import asyncio
from collections.abc import Callable

import structlog

from shared.errors import DependencyUnavailable
from shared.store.port import ChunkStore
from shared.telemetry import EXPIRED_CHUNKS

log = structlog.get_logger(__name__)

EVERY_S = 3600.0


async def expire_by_age(
    store: ChunkStore, max_age_s: float, clock: Callable[[], float], every_s: float = EVERY_S
) -> None:
    """Without end. Replicas may all do it: what is gone is not found twice."""
    while True:
        try:
            gone = await store.expire(clock() - max_age_s)
            if gone.messages:
                EXPIRED_CHUNKS.inc(gone.chunks)
                log.info("texts_expired", messages=gone.messages, chunks=gone.chunks, kept=gone.kept)
                await store.compact()
        except DependencyUnavailable as down:
            log.warning("texts_not_expired", part=down.part)
        await asyncio.sleep(every_s)
