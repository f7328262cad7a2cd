"""What a stream holds, a line a message."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import orjson

from shared.bus import Bus, subjects
from shared.bus.codec import to_json
from shared.bus.stored import Range, Stored, event_of, stored
from shared.contracts.events import ChunksCreated, DeadLetter, ExchangeRecorded, MessagesRecorded, OfSession

LONGEST = 100
"""Characters of a line's last column."""


@dataclass(frozen=True)
class Which:
    """Of a stream."""

    stream: str
    tenant: str | None
    session: str | None
    within: Range

    @property
    def subject(self) -> str:
        return subjects.pattern(self.stream, self.tenant, self.session)


@dataclass(frozen=True)
class Seen:
    message: Stored
    event: OfSession | None
    """None for one that cannot be read."""

    def told(self, *, content: bool) -> dict[str, Any]:
        _, _, tenant, session, *_ = self.message.subject.split(".")
        told = {
            "stream": self.message.stream,
            "sequence": self.message.sequence,
            "at": self.message.at,
            "tenant": subjects.id_of(tenant),
            "session": subjects.id_of(session),
            "holds": holds(self.event),
        }
        if content:
            told["event"] = orjson.loads(to_json(self.event)) if self.event else None
        return told


async def look(bus: Bus, which: Which, *, follow: bool = False) -> AsyncIterator[Seen]:
    """In the order of the stream; with `follow` what comes later too, without end."""
    async for message in stored(bus.js, which.stream, which.subject, which.within, follow=follow):
        event = await event_of(bus.claims, message.stream, message.data, message.headers)
        yield Seen(message, event)


def holds(event: OfSession | None) -> str:
    """In a few words, without content."""
    match event:
        case MessagesRecorded():
            units = sum(len(m.units) for m in event.messages)
            characters = sum(len(u.text) for m in event.messages for u in m.units)
            return f"{len(event.messages)} messages, {units} units, {characters} characters"
        case ChunksCreated():
            chunks = [chunk for m in event.messages for chunk in m.chunks]
            faulty = sum(m.faulty is not None for m in event.messages)
            bad = f", {faulty} given up" if faulty else ""
            return f"{len(event.messages)} messages, {len(chunks)} chunks{bad}"
        case ExchangeRecorded():
            told = orjson.loads(event.summary)
            return f"{event.record}: {told.get('action')}, {told.get('prompt_tokens')} tokens"
        case DeadLetter():
            return f"{event.service}: {event.reason}"[:LONGEST]
    return "cannot be read"
