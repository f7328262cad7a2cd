"""Small state under a key: one key-value bucket, values zstd-compressed."""

import asyncio
import re
from collections.abc import Callable, Iterable
from typing import Any

import nats.errors
import nats.js.errors
from nats.js import JetStreamContext
from nats.js.kv import KeyValue

from shared.bus.claims import MAX_INLINE
from shared.bus.codec import pack, unpack
from shared.errors import DependencyUnavailable, PermanentFault

READ_S = 5.0
KEY = re.compile(r"[-/_=A-Za-z0-9]+(\.[-/_=A-Za-z0-9]+)*")


class State:
    """Raises `DependencyUnavailable("bus_unavailable", ...)` where the bucket does not answer."""

    def __init__(self, js: JetStreamContext, bucket: str, require_connection: Callable[[], None]) -> None:
        self._js = js
        self._bucket = bucket
        self._require_connection = require_connection
        self._bound: KeyValue | None = None

    async def put(self, key: str, value: bytes) -> None:
        """Write once or replace whole. A value may be up to 512 KiB after compression."""
        _check(key)
        body = pack(value)
        if len(body) > MAX_INLINE:
            raise PermanentFault(f"{self._bucket}: value of {len(body)} bytes, allowed are {MAX_INLINE}")
        try:
            await (await self._kv()).put(key, body)
        except (nats.errors.Error, OSError, TimeoutError) as error:
            raise self._unavailable(error) from error

    async def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Those of the keys that exist. The reads are pipelined: some 32 cost little more than one."""
        wanted = list(dict.fromkeys(keys))
        for key in wanted:
            _check(key)
        try:
            bucket = await self._kv()

            async def get(key: str) -> bytes | None:
                try:
                    return (await bucket.get(key)).value
                except nats.js.errors.KeyNotFoundError:
                    return None

            values = await asyncio.gather(*map(get, wanted))
        except (nats.errors.Error, OSError, TimeoutError) as error:
            raise self._unavailable(error) from error
        return {k: unpack(v) for k, v in zip(wanted, values, strict=True) if v is not None}

    async def all(self) -> dict[str, bytes]:
        """Everything in the bucket; for small ones."""
        found: dict[str, bytes] = {}
        try:
            watcher: Any = await (await self._kv()).watchall(ignore_deletes=True)
            try:
                while (entry := await watcher.updates(timeout=READ_S)) is not None:
                    found[entry.key] = unpack(entry.value)
            finally:
                await watcher.stop()
        except (nats.errors.Error, OSError, TimeoutError) as error:
            raise self._unavailable(error) from error
        return found

    async def discard(self, unwanted: Callable[[bytes], bool]) -> int:
        """Delete every value that is; looks at them all, one at a time. How many there were."""
        discarded = 0
        try:
            bucket = await self._kv()
            watcher: Any = await bucket.watchall(ignore_deletes=True)
            try:
                while (entry := await watcher.updates(timeout=READ_S)) is not None:
                    if unwanted(unpack(entry.value)):
                        await bucket.delete(entry.key)
                        discarded += 1
            finally:
                await watcher.stop()
        except (nats.errors.Error, OSError, TimeoutError) as error:
            raise self._unavailable(error) from error
        return discarded

    async def _kv(self) -> KeyValue:
        self._require_connection()
        # Binding asks for the stream's info, which takes longer than all the reads that follow.
        if self._bound is None:
            self._bound = await self._js.key_value(self._bucket)
        return self._bound

    def _unavailable(self, error: Exception) -> DependencyUnavailable:
        return DependencyUnavailable("bus_unavailable", f"{self._bucket}: {type(error).__name__}")


def _check(key: str) -> None:
    if not KEY.fullmatch(key):
        raise ValueError(f"not a key: {key!r}")
