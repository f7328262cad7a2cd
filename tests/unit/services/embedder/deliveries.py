"""Messages as the embedder gets them from the bus."""

from shared.bus import Delivery
from shared.contracts.events import ChunkedMessage, ChunksCreated


def delivery(
    *messages: ChunkedMessage, tenant: str = "t", session: str = "s", sequence: int = 1
) -> Delivery[ChunksCreated]:
    event = ChunksCreated(tenant=tenant, session=session, at=1.5, messages=messages)
    return Delivery(event, "CHUNKS", sequence, 1)
