"""`python -m tests.bench.scaling`: 1, 2 and 4 embedder processes drain the same backlog.

The model server takes a fixed time a batch and answers as many at once as it is asked; a process has one
batch in flight. So what is measured is how well replicas share a durable, not how fast a model is. The store
is the tests' Qdrant over Edge, since several processes need a server.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from shared.bus import connect, provision
from shared.bus.embedded import NatsServer
from shared.bus.subjects import CHUNKS, VECTORS
from shared.contracts.events import ChunkedMessage, ChunksCreated
from shared.settings import Settings
from tests.support.chunks import chunk
from tests.support.embedding_server import embedding_server
from tests.support.processes import health_port, service
from tests.support.qdrant_http import serve_qdrant

LATENCY_S = 0.5
BATCH = 16
EVENTS = 240
PER_EVENT = 4
"""Texts of an event: a fetch of four events is one batch."""
PROCESSES = (1, 2, 4)
POLL_S = 0.05


def backlog() -> list[ChunksCreated]:
    """Events of single short messages; no text twice."""

    def message(number: int) -> ChunkedMessage:
        text = f"Shelf {number * 7919 % 99_991} holds crate {number} of the autumn delivery."
        address = blake2b(text.encode(), digest_size=16).hexdigest()
        return ChunkedMessage(address=address, chunks=(chunk(text, address, tokens=16),))

    numbers = range(EVENTS * PER_EVENT)
    return [
        ChunksCreated(
            tenant="default",
            session="bench",
            at=0.0,
            messages=tuple(message(n) for n in numbers[first : first + PER_EVENT]),
        )
        for first in range(0, len(numbers), PER_EVENT)
    ]


@contextmanager
def parts(folder: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """The bus, the store and the model server; the settings of an embedder."""
    with ExitStack() as stack:
        nats = asyncio.run(NatsServer.start(folder / "nats"))
        stack.callback(lambda: asyncio.run(nats.stop()))
        qdrant_url, _ = stack.enter_context(serve_qdrant(folder / "qdrant"))
        model = stack.enter_context(embedding_server())
        model.delay_s = LATENCY_S
        assert asyncio.run(provision(nats.url, Settings())) == []
        yield (
            nats.url,
            {
                "nats_url": nats.url,
                "qdrant_url": qdrant_url,
                "embed_url": model.url,
                "embed_dim": model.dim,
                "embed_batch": BATCH,
            },
        )


async def drained(nats_url: str, events: list[ChunksCreated]) -> float:
    """Seconds from the publishing until nothing waits for a vector."""
    bus = await connect(nats_url, service="bench")
    try:
        started = time.perf_counter()
        await bus.publish_many(events)
        while True:
            info = await bus.js.consumer_info(CHUNKS, VECTORS.name)
            if not info.num_pending and not info.num_ack_pending:
                return time.perf_counter() - started
            await asyncio.sleep(POLL_S)
    finally:
        await bus.close()


def run(processes: int) -> float:
    with TemporaryDirectory(prefix="backscroll-scaling-") as name, parts(Path(name)) as (nats_url, settings):
        children = [service("embedder", settings) for _ in range(processes)]
        try:
            for child in children:
                health_port(child)
            return asyncio.run(drained(nats_url, backlog()))
        finally:
            for child in children:
                child.close()


def main() -> None:
    console, texts = Console(), EVENTS * PER_EVENT
    table = Table(title=f"{texts} texts, {BATCH} a batch, {LATENCY_S} s a batch")
    for column in ("embedders", "seconds", "texts a second", "times as fast as half as many"):
        table.add_column(column, justify="right")
    before = 0.0
    for processes in PROCESSES:
        seconds = run(processes)
        times = f"{before / seconds:.2f}" if before else "-"
        table.add_row(str(processes), f"{seconds:.1f}", f"{texts / seconds:.0f}", times)
        before = seconds
        console.print(f"{processes}: {seconds:.1f} s")
    console.print(table)


if __name__ == "__main__":
    main()
