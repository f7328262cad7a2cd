"""What must exist on the server, making it, and saying where it differs."""

from dataclasses import dataclass
from typing import Any

import nats.js.errors
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DiscardPolicy, RetentionPolicy, StorageType, StreamConfig

from shared.bus.subjects import DURABLES, STREAM_SUBJECTS
from shared.errors import PermanentFault
from shared.settings import Settings

ACK_WAIT_S = 30.0
MAX_ACK_PENDING = 4096
"""Spans all replicas; a replica holds at most one batch."""
DEDUP_WINDOW_S = 120.0
TIPS = "tips"
ERASED = "erased"
ERASED_BYTES = 64 * 1024**2
"""Some 300,000 sessions; erasing more in that time is refused rather than forgotten."""
KEYS = "keys"
KEYS_BYTES = 16 * 1024**2
CLAIMS = "claims"
RPC_CLAIMS = "claims-rpc"
RPC_LIFETIME_S = 900.0
"""Longer than any caller waits."""


@dataclass(frozen=True)
class Expected:
    streams: tuple[StreamConfig, ...]
    durables: tuple[tuple[str, ConsumerConfig], ...]
    """With the stream of each."""


def expected(settings: Settings, ack_wait_s: float = ACK_WAIT_S) -> Expected:
    ages = max_ages(settings)
    longest = max(ages.values())
    streams = [
        StreamConfig(
            name=name,
            subjects=[subject],
            retention=RetentionPolicy.LIMITS,
            # Old events give way to new ones: refusing new ones would stop every conversation, while a
            # message that fell out unread is published again by the request that misses it.
            discard=DiscardPolicy.OLD,
            storage=StorageType.FILE,
            max_age=ages[name],
            max_bytes=settings.stream_max_bytes,
            num_replicas=settings.stream_replicas,
            duplicate_window=min(DEDUP_WINDOW_S, ages[name]),
            allow_direct=True,
        )
        for name, subject in STREAM_SUBJECTS.items()
    ]
    streams += [
        _key_value(TIPS, float(settings.session_ttl_s), settings.stream_max_bytes, settings),
        _erased(max(3.0 * longest, float(settings.session_ttl_s)), settings),
        # Keys do not expire.
        _key_value(KEYS, 0.0, KEYS_BYTES, settings),
        # Twice the lifetime of the messages: `Claims` says why.
        _object_store(CLAIMS, 2.0 * longest, settings),
        _object_store(RPC_CLAIMS, 2.0 * RPC_LIFETIME_S, settings),
    ]
    durables = tuple(
        (
            d.stream,
            ConsumerConfig(
                durable_name=d.name,
                ack_policy=AckPolicy.EXPLICIT,
                ack_wait=ack_wait_s,
                # With a limit, a server that is away for ten minutes would cost the backlog.
                max_deliver=-1,
                max_ack_pending=MAX_ACK_PENDING,
            ),
        )
        for d in DURABLES
    )
    return Expected(tuple(streams), durables)


def _key_value(bucket: str, ttl_s: float, max_bytes: int, settings: Settings) -> StreamConfig:
    """The stream that clients know as a key-value bucket; no marker TTL, no compare-and-set."""
    return StreamConfig(
        name=f"KV_{bucket}",
        subjects=[f"$KV.{bucket}.>"],
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        max_age=ttl_s,
        max_bytes=max_bytes,
        max_msgs_per_subject=1,
        num_replicas=settings.stream_replicas,
        duplicate_window=min(DEDUP_WINDOW_S, ttl_s or DEDUP_WINDOW_S),
        allow_rollup_hdrs=True,
        allow_direct=True,
        deny_delete=True,
    )


def max_ages(settings: Settings) -> dict[str, float]:
    """How long each stream keeps its messages, seconds. Raises `PermanentFault` for what is none."""
    if unknown := sorted(settings.stream_max_ages.keys() - STREAM_SUBJECTS.keys()):
        raise PermanentFault(f"stream_max_ages: there is no stream {', '.join(unknown)}")
    return {
        name: float(settings.stream_max_ages.get(name, settings.stream_max_age_s)) for name in STREAM_SUBJECTS
    }


def _erased(ttl_s: float, settings: Settings) -> StreamConfig:
    """Kept for longer than anything was under way: a letter outlives its event, a claim both."""
    bucket = _key_value(ERASED, ttl_s, ERASED_BYTES, settings)
    # Any replica answers a direct read, one that lags behind too, and would let a dead event pass.
    bucket.allow_direct = False
    return bucket


def _object_store(bucket: str, ttl_s: float, settings: Settings) -> StreamConfig:
    """The stream that clients know as an object store bucket."""
    return StreamConfig(
        name=f"OBJ_{bucket}",
        subjects=[f"$O.{bucket}.C.>", f"$O.{bucket}.M.>"],
        storage=StorageType.FILE,
        # A bucket that dropped old chunks would hand out objects with holes.
        discard=DiscardPolicy.NEW,
        max_age=ttl_s,
        max_bytes=settings.stream_max_bytes,
        num_replicas=settings.stream_replicas,
        duplicate_window=min(DEDUP_WINDOW_S, ttl_s),
        allow_rollup_hdrs=True,
        allow_direct=True,
    )


async def ensure(js: JetStreamContext, want: Expected, update: bool = False) -> list[str]:
    """Make what is missing; return what differs. Changes what exists only with `update`."""
    for stream in want.streams:
        if await _stream(js, str(stream.name)) is None:
            await js.add_stream(stream)
        elif update:
            await js.update_stream(stream)
    for stream_name, durable in want.durables:
        if update or await _durable(js, stream_name, str(durable.durable_name)) is None:
            await js.add_consumer(stream_name, durable)
    return await differences(js, want)


async def differences(js: JetStreamContext, want: Expected) -> list[str]:
    """In plain words, one line each; empty when all is as expected."""
    lines: list[str] = []
    for stream in want.streams:
        found = await _stream(js, str(stream.name))
        lines += _compare(f"stream {stream.name}", stream, found)
    for stream_name, durable in want.durables:
        have = await _durable(js, stream_name, str(durable.durable_name))
        lines += _compare(f"durable {durable.durable_name} on {stream_name}", durable, have)
    return lines


def _compare(what: str, want: Any, have: Any) -> list[str]:
    """Of the fields that are named in `want`; the server fills in the others."""
    if have is None:
        return [f"{what} does not exist"]
    return [
        f"{what}: {name} is {_plain(getattr(have, name))}, expected {_plain(value)}"
        for name, value in vars(want).items()
        if value is not None and _plain(getattr(have, name)) != _plain(value)
    ]


def _plain(value: Any) -> Any:
    """Enumerations come back as strings, switches that are off as nothing."""
    plain = getattr(value, "value", value)
    return False if plain is None else plain


async def _stream(js: JetStreamContext, name: str) -> StreamConfig | None:
    try:
        info = await js.stream_info(name)
    except nats.js.errors.NotFoundError:
        return None
    return info.config


async def _durable(js: JetStreamContext, stream: str, name: str) -> ConsumerConfig | None:
    try:
        info = await js.consumer_info(stream, name)
    except nats.js.errors.NotFoundError:
        return None
    config: ConsumerConfig | None = info.config
    return config
