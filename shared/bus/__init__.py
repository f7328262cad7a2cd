"""The bus: events on JetStream streams, requests with replies, small state in a key-value bucket.

    from shared.bus import ASSEMBLE, CHUNKER, Bus, Delivery, Faulty, connect, provision

    await provision(url, settings)                          # makes what is missing, returns what differs
    bus = await connect(url, service="chunker")             # raises DependencyUnavailable("bus_unavailable")
    await bus.check(settings)                               # streams, durables, buckets are as expected

    # Events. Subject, stream and dedup id come from the event itself.
    await bus.publish(MessagesRecorded(...))                # acknowledged by the stream, or it raises
    await bus.publish_many([event, event])                  # pipelined

    async def handler(batch: list[Delivery[MessagesRecorded]]) -> Sequence[Faulty] | None:
        for delivery in batch:
            delivery.event                                  # decoded
    await bus.consume(CHUNKER, handler, max_messages=64, flush_ms=10)

A handler that returns settles its whole batch. What it returns goes to the dead letters alone:
`Faulty(delivery, item_json, reason)`. What it raises decides the rest:
`DependencyUnavailable` holds the batch (heartbeats, no fetching) and runs the handler again after a
growing delay, without limit; `PermanentFault` bisects the batch until the faulty message is alone and
dead-letters that; anything else bisects likewise, and the message that fails alone is redelivered with
a growing delay and dead-lettered at its fifth delivery. Handlers must therefore be idempotent.

    # Requests. Handlers run concurrently; what they raise is raised at the caller.
    async def assemble(request: Assemble) -> Assembled: ...
    await bus.serve(ASSEMBLE, assemble)
    reply = await bus.call(ASSEMBLE, Assemble(...), timeout_s=130)

No responder, a timeout or a lost connection raise `DependencyUnavailable` with the part of the method
(`assembler_unavailable`, `retriever_unavailable`, `rerank_unavailable`) or `bus_unavailable`.

    # State. Values are bytes; keys are hex digests.
    await bus.tips.put(key, value)
    await bus.tips.get_many(keys)                           # dict of those that exist, one round trip

    bus.is_connected
    await bus.ready()                                       # readiness: raises where a durable is gone
    await bus.close()                                       # handlers finish, unstarted messages go back
"""

from shared.bus.broker import Bus
from shared.bus.connecting import connect, provision
from shared.bus.settle import Delivery, Faulty
from shared.bus.subjects import ASSEMBLE, CHUNKER, ERASE, RERANK, RETRIEVE, TERMS, VECTORS, Durable, Method

__all__ = [
    "ASSEMBLE",
    "CHUNKER",
    "ERASE",
    "RERANK",
    "RETRIEVE",
    "TERMS",
    "VECTORS",
    "Bus",
    "Delivery",
    "Durable",
    "Faulty",
    "Method",
    "connect",
    "provision",
]
