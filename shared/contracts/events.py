"""Events, in the past tense: they travel on streams and can be replayed."""

from shared.contracts.base import Contract, Kind, Role


class Unit(Contract):
    """One structural unit of a message: a user input, a piece of answer, a tool call, a tool result."""

    unit: int
    kind: Kind
    tool: str | None = None
    text: str


class RecordedMessage(Contract):
    address: str
    """128-bit content address, 32 hex digits."""
    role: Role
    units: tuple[Unit, ...]


class OfSession(Contract):
    tenant: str
    session: str
    era: int = 0
    """Number of the session's last erasure when the request came that this is of (shared/bus/erased.py)."""


class MessagesRecorded(OfSession):
    at: float
    """Seconds since the epoch."""
    messages: tuple[RecordedMessage, ...]


class Chunk(Contract):
    """A unit, or one part of a unit above `chunk_tokens`. Never changes."""

    address: str
    unit: int
    part: int
    start: int
    end: int
    """Code points in the unit's text."""
    role: Role
    kind: Kind
    tool: str | None = None
    tokens: int
    """Upper bound."""
    text: str
    digest: str
    """`text_digest` of the text."""


class ChunkedMessage(Contract):
    address: str
    chunks: tuple[Chunk, ...]
    """Empty for a message without text: its marker is still written."""
    faulty: str | None = None
    """Why a message was given up; it gets its marker all the same."""


class ChunksCreated(OfSession):
    at: float
    messages: tuple[ChunkedMessage, ...]


class ExchangeRecorded(OfSession):
    """What the model saw, and why. `body` is the record as JSON (services/gateway/http/record.py)."""

    record: str
    at: float
    body: str
    summary: str = "{}"
    """A few hundred bytes of it as ASCII JSON. It travels as a header too, so that a list reads no body."""


class DeadLetter(OfSession):
    """Of an event that could not be read tenant and session are empty; its subject tells them."""

    tenant: str = ""
    session: str = ""
    stream: str
    sequence: int
    service: str
    reason: str
    at: float
    item: str
    """The faulty item as JSON."""
