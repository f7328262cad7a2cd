"""Claim check: a body too large for a message waits in an object store, the message carries its name."""

import asyncio
import base64
import hashlib
import time
from collections.abc import Mapping
from contextlib import suppress

import nats.js.errors
from nats.js import JetStreamContext

from shared.bus.unavailable import unavailable
from shared.errors import PermanentFault

CLAIM = "Backscroll-Claim"
MAX_INLINE = 512 * 1024
"""Bytes after compression. The server closes the connection of whoever publishes more than 1 MiB."""
READ_TIMEOUT_S = 30.0


class Claims:
    """The claims of one lifetime: a bucket keeps its objects for twice as long as messages may live.

    An object's name is made of its content and of the period that it was put in, so that putting it
    again costs one look-up, and an object is never closer to its end than the message that names it.
    (Putting an object under the same name again would delete the chunks that a reader is reading.)
    """

    def __init__(self, js: JetStreamContext, bucket: str) -> None:
        self._js = js
        self._bucket = bucket
        self._lifetime_s: float | None = None

    async def check_in(self, body: bytes) -> tuple[bytes, dict[str, str]]:
        """What to publish in place of the body, and the headers that go with it."""
        if len(body) <= MAX_INLINE:
            return body, {}
        digest = hashlib.blake2b(body, digest_size=16).hexdigest()
        with unavailable("claim check"):
            name = f"{digest}.{int(time.time() // await self._lifetime())}"
            store = await self._js.object_store(self._bucket)
            try:
                await store.get_info(name)
            except nats.js.errors.ObjectNotFoundError:
                await store.put(name, body)
        return b"", {CLAIM: f"{self._bucket}/{name}"}

    async def _lifetime(self) -> float:
        if self._lifetime_s is None:
            kept_s = (await self._js.stream_info(f"OBJ_{self._bucket}")).config.max_age
            self._lifetime_s = float(kept_s or 2 * 86_400) / 2
        return self._lifetime_s

    async def erase(self, headers: Mapping[str, str]) -> int:
        """Overwrite and delete the object that a message's headers name; 0 where it is gone already."""
        bucket, _, name = headers[CLAIM].partition("/")
        with unavailable("claim check"):
            store = await self._js.object_store(bucket)
            try:
                info = await store.get_info(name)
            except nats.js.errors.NotFoundError:
                return 0
            meta = base64.urlsafe_b64encode(name.encode()).decode()
            # Its parts before what names them, so that an erasure that broke off can be repeated.
            for subject in (f"$O.{bucket}.C.{info.nuid}", f"$O.{bucket}.M.{meta}"):
                await self._delete(f"OBJ_{bucket}", subject)
        return 1

    async def _delete(self, stream: str, subject: str) -> None:
        """Message by message: a purge would leave the bytes in the server's files (shared/bus/sweep.py)."""
        with suppress(nats.js.errors.NotFoundError):
            while True:
                message = await self._js.get_msg(stream, 1, subject=subject, next=True)
                await self._js.delete_msg(stream, int(message.seq or 0))

    async def check_out(self, body: bytes, headers: Mapping[str, str] | None) -> bytes:
        """The body that was published.

        Raises `PermanentFault` where the object is gone, `DependencyUnavailable` where the store does
        not answer.
        """
        reference = (headers or {}).get(CLAIM)
        if reference is None:
            return body
        bucket, _, name = reference.partition("/")
        with unavailable("claim check"):
            try:
                store = await self._js.object_store(bucket)
                # An object whose chunks are gone would be waited for without end.
                result = await asyncio.wait_for(store.get(name), READ_TIMEOUT_S)
            except nats.js.errors.NotFoundError as error:
                raise PermanentFault(f"claim {reference} is gone") from error
            except (nats.js.errors.DigestMismatchError, nats.js.errors.BadObjectMetaError) as error:
                raise PermanentFault(f"claim {reference} is damaged") from error
        return bytes(result.data or b"")
