"""A key-value bucket, bound when it is first used."""

from collections.abc import Callable

from nats.js import JetStreamContext
from nats.js.kv import KeyValue

from shared.bus.unavailable import unavailable


class Bucket:
    """Raises `DependencyUnavailable("bus_unavailable", ...)` where it does not answer."""

    def __init__(self, js: JetStreamContext, bucket: str, require_connection: Callable[[], None]) -> None:
        self._js = js
        self._bucket = bucket
        self._require_connection = require_connection
        self._bound: KeyValue | None = None

    async def _kv(self) -> KeyValue:
        self._require_connection()
        # Binding asks for the stream's info, which takes longer than all the reads that follow.
        if self._bound is None:
            with unavailable(self._bucket):
                self._bound = await self._js.key_value(self._bucket)
        return self._bound
