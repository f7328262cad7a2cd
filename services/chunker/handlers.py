"""`MessagesRecorded` in, `ChunksCreated` out."""

import asyncio
from collections.abc import Iterable, Iterator

import structlog
from opentelemetry.trace import SpanKind

from services.chunker.chunk import Limits, chunk_message
from shared.bus import Bus, Delivery, Faulty
from shared.contracts.events import ChunkedMessage, ChunksCreated, MessagesRecorded, RecordedMessage
from shared.errors import PermanentFault
from shared.telemetry import CHUNKS
from shared.tracing import span

log = structlog.get_logger(__name__)

EVENT_BYTES = 256 * 1024
"""Text in one event, about: the bus takes 512 KiB before it needs a claim check."""


class Handlers:
    """Has no store and keeps nothing: equal messages give equal events, under equal dedup ids."""

    def __init__(self, bus: Bus, limits: Limits) -> None:
        self._bus = bus
        self._limits = limits

    async def messages_recorded(self, batch: list[Delivery[MessagesRecorded]]) -> list[Faulty]:
        faulty: list[Faulty] = []
        for delivery in batch:
            with span("chunk", SpanKind.CONSUMER, parent=delivery.trace):
                # Off the event loop: other services may share it, and a message may have megabytes.
                chunked = await asyncio.to_thread(self._chunk_all, delivery.event.messages)
                await self._bus.publish_many(events(delivery.event, chunked))
            CHUNKS.inc(sum(len(message.chunks) for message in chunked))
            faulty += [
                Faulty(delivery, message.model_dump_json(), result.faulty)
                for message, result in zip(delivery.event.messages, chunked, strict=True)
                if result.faulty is not None
            ]
        return faulty

    def _chunk_all(self, messages: Iterable[RecordedMessage]) -> list[ChunkedMessage]:
        return [self._chunk(message) for message in messages]

    def _chunk(self, message: RecordedMessage) -> ChunkedMessage:
        """One that cannot be chunked fails alone, and gets its marker, so that nobody waits for it."""
        try:
            return ChunkedMessage(address=message.address, chunks=chunk_message(message, self._limits))
        except PermanentFault as error:
            return ChunkedMessage(address=message.address, chunks=(), faulty=str(error))
        except Exception as error:
            log.exception("chunking_failed", address=message.address)
            return ChunkedMessage(address=message.address, chunks=(), faulty=type(error).__name__)


def events(recorded: MessagesRecorded, chunked: Iterable[ChunkedMessage]) -> Iterator[ChunksCreated]:
    """Events of about `EVENT_BYTES` of text; all chunks of a message in one."""
    pending: list[ChunkedMessage] = []
    size = 0
    for message in chunked:
        more = sum(len(chunk.text.encode("utf-8", "replace")) for chunk in message.chunks)
        if pending and size + more > EVENT_BYTES:
            yield _event(recorded, pending)
            pending, size = [], 0
        pending.append(message)
        size += more
    if pending:
        yield _event(recorded, pending)


def _event(recorded: MessagesRecorded, messages: list[ChunkedMessage]) -> ChunksCreated:
    return ChunksCreated(
        tenant=recorded.tenant,
        session=recorded.session,
        era=recorded.era,
        at=recorded.at,
        messages=tuple(messages),
    )
