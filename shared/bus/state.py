"""Small state under a key: one key-value bucket, values zstd-compressed."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing

import nats.js.errors

from shared.bus.bucket import Bucket
from shared.bus.claims import MAX_INLINE
from shared.bus.codec import pack, unpack
from shared.bus.stored import Range, stored
from shared.bus.unavailable import unavailable
from shared.errors import PermanentFault

KEY = re.compile(r"[-/_=A-Za-z0-9]+(\.[-/_=A-Za-z0-9]+)*")


class State(Bucket):
    async def put(self, key: str, value: bytes) -> None:
        """Write once or replace whole. A value may be up to 512 KiB after compression."""
        _check(key)
        body = pack(value)
        if len(body) > MAX_INLINE:
            raise PermanentFault(f"{self._bucket}: value of {len(body)} bytes, allowed are {MAX_INLINE}")
        with unavailable(self._bucket):
            await (await self._kv()).put(key, body)

    async def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Those of the keys that exist. The reads are pipelined: some 32 cost little more than one."""
        wanted = list(dict.fromkeys(keys))
        for key in wanted:
            _check(key)
        bucket = await self._kv()

        async def get(key: str) -> bytes | None:
            try:
                return (await bucket.get(key)).value
            except nats.js.errors.KeyNotFoundError:
                return None

        with unavailable(self._bucket):
            values = await asyncio.gather(*map(get, wanted))
        return {k: unpack(v) for k, v in zip(wanted, values, strict=True) if v is not None}

    async def all(self) -> dict[str, bytes]:
        """Everything in the bucket; for small ones."""
        async with aclosing(self._entries()) as entries:
            return {key: value async for key, value in entries}

    async def discard(self, unwanted: Callable[[bytes], bool]) -> int:
        """Delete every value that is; looks at them all, one at a time. How many there were."""
        bucket, discarded = await self._kv(), 0
        async with aclosing(self._entries()) as entries:
            async for key, value in entries:
                if unwanted(value):
                    with unavailable(self._bucket):
                        await bucket.delete(key)
                    discarded += 1
        return discarded

    async def _entries(self) -> AsyncGenerator[tuple[str, bytes], None]:
        # Not by nats-py's watcher: it takes a bucket for empty where the server's word that nothing is
        # pending overtakes the first entry. Here each message says how many come after it.
        self._require_connection()
        prefix = f"$KV.{self._bucket}."
        async with aclosing(stored(self._js, f"KV_{self._bucket}", f"{prefix}>", Range())) as messages:
            async for message in messages:
                # What is left of a deleted key has no data; a value has some, packed.
                if message.data:
                    yield message.subject.removeprefix(prefix), unpack(message.data)


def _check(key: str) -> None:
    if not KEY.fullmatch(key):
        raise ValueError(f"not a key: {key!r}")
