"""Dead letters: what was given up, why, and what it was."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from shared.bus import Bus, subjects
from shared.bus.claims import CLAIM
from shared.bus.codec import decode, pack, to_json
from shared.bus.stored import Range, Stored, event_of, one, stored
from shared.bus.unavailable import unavailable
from shared.contracts.events import DeadLetter


@dataclass(frozen=True)
class Letter:
    number: int
    """Its sequence number on `DEADLETTERS`."""
    tenant: str
    session: str
    letter: DeadLetter
    headers: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class Filter:
    tenant: str | None = None
    session: str | None = None
    service: str | None = None
    within: Range = field(default_factory=Range)

    @property
    def subject(self) -> str:
        found = subjects.pattern(subjects.DEADLETTERS, self.tenant, self.session)
        return found if self.service is None else f"{found.rpartition('.')[0]}.{subjects.token(self.service)}"


async def find(bus: Bus, wanted: Filter) -> AsyncIterator[Letter]:
    """Oldest first."""
    async for message in stored(bus.js, subjects.DEADLETTERS, wanted.subject, wanted.within):
        yield await _read(bus, message)


async def by_number(bus: Bus, number: int) -> Letter | None:
    message = await one(bus.js, subjects.DEADLETTERS, number)
    return None if message is None else await _read(bus, message)


async def original(bus: Bus, letter: DeadLetter) -> str | None:
    """The whole event as JSON, from its stream; None where it has aged out or cannot be read."""
    message = await one(bus.js, letter.stream, letter.sequence)
    if message is None:
        return None
    event = await event_of(bus.claims, letter.stream, message.data, message.headers)
    return None if event is None else to_json(event).decode()


async def retry(bus: Bus, letter: Letter) -> str:
    """Publish the original once more and put the letter away; tells what was done.

    The whole event goes out again, whatever part of it failed: handlers are idempotent, and an event
    holds all chunks of its messages. Repeating this is harmless: a letter that is gone was retried or
    dropped, and one whose removal failed is published under the same id.
    """
    about = letter.letter
    found = await _again(bus, about)
    if found is None:
        return f"kept: {about.stream} {about.sequence} has aged out, and the letter holds a part of it"
    subject, body, claim = found
    with unavailable("retry"):
        headers = {"Nats-Msg-Id": f"retry-{letter.number}", **claim}
        ack = await bus.js.publish(subject, body, stream=about.stream, headers=headers)
    done = "was published again before, as" if ack.duplicate else "published again as"
    done = f"{done} {about.stream} {ack.seq}"
    await drop(bus, letter)
    return done


async def drop(bus: Bus, letter: Letter) -> None:
    await bus.sweeper.wipe(subjects.DEADLETTERS, letter.number, letter.headers)


async def _again(bus: Bus, letter: DeadLetter) -> tuple[str, bytes, dict[str, str]] | None:
    """Subject, body and claim of the original, or of the event where the letter holds it all."""
    message = await one(bus.js, letter.stream, letter.sequence)
    if message is not None:
        claim = {CLAIM: message.headers[CLAIM]} if CLAIM in message.headers else {}
        return message.subject, message.data, claim
    try:
        event = subjects.HOLDS[letter.stream].model_validate_json(letter.item)
    except ValidationError:
        return None
    _, subject = subjects.ROUTES[type(event)]
    return subject(event), *await bus.claims.check_in(pack(to_json(event)))


async def _read(bus: Bus, message: Stored) -> Letter:
    _, _, tenant, session, *_ = message.subject.split(".")
    body = await bus.claims.check_out(message.data, message.headers)
    letter = decode(DeadLetter, body)
    named = subjects.id_of(tenant), subjects.id_of(session)
    return Letter(message.sequence, *named, letter, message.headers)
