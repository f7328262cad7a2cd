"""Short ways to chunks, events and deliveries."""

from shared.bus import Delivery
from shared.contracts.base import Kind, Role
from shared.contracts.events import Chunk, ChunkedMessage, ChunksCreated
from shared.conversation.address import text_digest


def chunk(text: str, number: int = 0, part: int = 0) -> Chunk:
    return Chunk(
        address=f"{number:032x}",
        unit=0,
        part=part,
        start=0,
        end=len(text),
        role=Role.USER,
        kind=Kind.USER,
        tokens=max(1, len(text)),
        text=text,
        digest=text_digest(text),
    )


def message(number: int, *texts: str) -> ChunkedMessage:
    chunks = tuple(chunk(text, number, part) for part, text in enumerate(texts))
    return ChunkedMessage(address=f"{number:032x}", chunks=chunks)


def delivery(
    *messages: ChunkedMessage, tenant: str = "t", session: str = "s", sequence: int = 1
) -> Delivery[ChunksCreated]:
    event = ChunksCreated(tenant=tenant, session=session, at=1.5, messages=messages)
    return Delivery(event, "CHUNKS", sequence, 1)
