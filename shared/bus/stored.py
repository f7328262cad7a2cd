"""Looking at what a stream holds. Nothing is acknowledged, and no durable is touched."""

import contextlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import nats.errors
import nats.js.errors
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from shared.bus.claims import Claims
from shared.bus.codec import decode
from shared.bus.subjects import HOLDS
from shared.bus.unavailable import unavailable
from shared.contracts.events import OfSession
from shared.errors import PermanentFault

FETCH = 32
"""A body can have 1 MiB."""
FETCH_S = 1.0
FORGOTTEN_S = 60.0
"""After this without a fetch the server removes the reader that went away."""


@dataclass(frozen=True)
class Range:
    """Both ends included; None: from the first, to the last. Times are seconds since the epoch."""

    since: float | None = None
    until: float | None = None
    first: int | None = None
    last: int | None = None

    def ended_by(self, message: "Stored") -> bool:
        beyond = self.last is not None and message.sequence > self.last
        return beyond or (self.until is not None and message.at > self.until)

    def holds(self, message: "Stored") -> bool:
        early = self.first is not None and message.sequence < self.first
        return not early and not (self.since is not None and message.at < self.since)


@dataclass(frozen=True)
class Stored:
    stream: str
    sequence: int
    subject: str
    at: float
    data: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    left: int = 0
    """Messages after this one, as the server counted them."""


async def stored(
    js: JetStreamContext, stream: str, subject: str, within: Range, *, follow: bool = False
) -> AsyncGenerator[Stored, None]:
    """In the order of the stream; with `follow` what comes later too, without end.

    Raises `DependencyUnavailable("bus_unavailable", ...)`.
    """
    with unavailable(stream):
        reader = await js.pull_subscribe(subject, stream=stream, config=_reader(within))
        try:
            left = int((await reader.consumer_info()).num_pending or 0)
            while left or follow:
                try:
                    messages = await reader.fetch(FETCH, timeout=FETCH_S)
                except TimeoutError:
                    # What was there when we looked can have been deleted since.
                    left = int((await reader.consumer_info()).num_pending or 0)
                    continue
                for message in map(_stored, messages):
                    left = message.left
                    if within.ended_by(message):
                        return
                    if within.holds(message):
                        yield message
        finally:
            with contextlib.suppress(nats.errors.Error, OSError, TimeoutError):
                await reader.unsubscribe()
                await js.delete_consumer(stream, reader._consumer)


async def one(js: JetStreamContext, stream: str, sequence: int) -> Stored | None:
    """None where it is gone: aged out, erased, or never there."""
    with unavailable(stream):
        try:
            found = await js.get_msg(stream, sequence)
        except nats.js.errors.NotFoundError:
            return None
    at = found.time.timestamp() if found.time else 0.0
    return Stored(stream, sequence, str(found.subject), at, found.data or b"", found.headers or {})


async def event_of(
    claims: Claims, stream: str, data: bytes, headers: Mapping[str, str] | None
) -> OfSession | None:
    """What a message of the stream says; None for one that nobody can read."""
    try:
        return decode(HOLDS[stream], await claims.check_out(data, headers))
    except PermanentFault:
        return None


def _reader(within: Range) -> ConsumerConfig:
    config = ConsumerConfig(ack_policy=AckPolicy.NONE, inactive_threshold=FORGOTTEN_S, mem_storage=True)
    config.num_replicas = 1
    if within.first is not None:
        config.deliver_policy, config.opt_start_seq = DeliverPolicy.BY_START_SEQUENCE, max(within.first, 1)
    elif within.since is not None:
        config.deliver_policy = DeliverPolicy.BY_START_TIME
        config.opt_start_time = datetime.fromtimestamp(within.since, UTC)
    return config


def _stored(message: Msg) -> Stored:
    meta = message.metadata
    return Stored(
        meta.stream,
        meta.sequence.stream,
        message.subject,
        meta.timestamp.timestamp(),
        message.data,
        message.headers or {},
        meta.num_pending,
    )
