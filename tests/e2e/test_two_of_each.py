"""Two of each service on one bus and one store, each killed and told to end in turn, while a chat goes on."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import pytest

from services.embedder.vectors import GROUP_CHUNKS
from shared.settings import Settings
from shared.store import open_store
from shared.store.port import Coverage
from tests.support.addresses import address_keys
from tests.support.compose_run import Compose
from tests.support.embedding_server import EmbeddingServer, embedding_server
from tests.support.eventually import eventually
from tests.support.processes import Child, started
from tests.support.qdrant_http import serve_qdrant
from tests.support.served import free_port, served
from tests.support.talk import LOCK_QUESTION, Message, talk
from tests.support.two_gateways import Asking, Chat, HeldEngine

WINDOW = 2048
SERVICES = ("chunker", "embedder", "retriever", "assembler", "gateway")
REDELIVERED_S = 60
"""What a killed process had fetched is delivered again after `ack_wait`, 30 s."""

EMBED_WAIT_S = 5
"""A request does not wait for what a killed process had fetched: it is answered without."""


class Two:
    """Two processes of each service; `down` and `up` take turns with them."""

    def __init__(self, run: Compose) -> None:
        self._run = run
        self.ports = [free_port(), free_port()]
        self._children: dict[tuple[str, int], Child] = {}
        self._health: dict[tuple[str, int], int] = {}

    def begin(self) -> None:
        for name in SERVICES:
            for number in (0, 1):
                self.up(name, number)
        self.ready()

    def up(self, name: str, number: int) -> None:
        health = self._health[name, number] = free_port()
        self._children[name, number] = self._run.start(
            name, port=self.ports[number], health_port=health, embed_wait_s=EMBED_WAIT_S
        )

    def ready(self) -> None:
        for child in self._children.values():
            child.wait_for(started)

    def embedding(self) -> int:
        """The number of an embedder that is at work, as its metrics tell."""
        found: list[int] = []

        def at_work() -> bool:
            found[:] = [n for n in (0, 1) if self._queued(n)]
            return bool(found)

        asyncio.run(eventually(at_work))
        return found[0]

    def _queued(self, number: int) -> bool:
        told = httpx.get(f"http://127.0.0.1:{self._health['embedder', number]}/metrics").text
        return "backscroll_embeds_queued 0.0" not in told.splitlines()

    def kill(self, name: str, number: int) -> None:
        self._children[name, number].kill()

    def end(self, name: str, number: int) -> None:
        child = self._children[name, number]
        child.terminate()
        assert child.ended(30) == 0, child.lines[-5:]


@pytest.fixture
def embeddings() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture
def engine() -> HeldEngine:
    return HeldEngine(WINDOW)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[str]:
    with serve_qdrant(tmp_path / "qdrant-stand-in") as (url, _):
        yield url


@pytest.fixture
def two(tmp_path: Path, embeddings: EmbeddingServer, engine: HeldEngine, store: str) -> Iterator[Two]:
    with ExitStack() as stack:
        at = stack.enter_context(served(engine))
        addresses = {"qdrant:6333": store, "engine:8500": at, "embedding:8080/v1": embeddings.url}
        given = {
            "BACKSCROLL_EMBED_URL": "http://embedding:8080/v1",
            "BACKSCROLL_EMBED_DIM": str(embeddings.dim),
        }
        hosts = {name: url.removeprefix("http://") for name, url in addresses.items()}
        run = stack.enter_context(closing(Compose(tmp_path, hosts, given)))
        run.start_nats()
        for step in ("provision", "demo-key"):
            assert run.start(step).ended(30) == 0
        yield Two(run)


def news(about: str) -> list[Message]:
    """Several events of text; no text twice."""
    return talk(about, pairs=40)[10:]


async def stored(url: str, dim: int, messages: list[Message]) -> tuple[set[int], Counter[int], Coverage]:
    """Messages without a marker, chunks by message, and how many of the chunks have a vector."""
    settings = Settings(qdrant_url=url, embed_dim=dim)
    store = open_store(settings, settings.embed_model, dim)
    keys = address_keys(messages, "demo")
    try:
        chunks = Counter(chunk.address for chunk in await store.chunks("demo", keys))
        return await store.missing("demo", keys), chunks, await store.coverage("demo", keys)
    finally:
        await store.close()


def test_each_is_killed_and_told_to_end_while_a_chat_goes_on(
    two: Two, engine: HeldEngine, embeddings: EmbeddingServer, store: str, tmp_path: Path
) -> None:
    two.begin()
    with closing(Chat(two.ports, (tmp_path / "demo" / "key").read_text().strip())) as chat:
        assert "9174" in chat.say(*talk("beginning"))

        # In the middle of their work: what they had fetched comes back to their siblings.
        embeddings.delay_s = 0.5
        turn = Asking(chat, *news("first"))
        killed = two.embedding()
        two.kill("embedder", killed)
        two.kill("chunker", 0)
        turn.answered()
        two.up("embedder", killed)
        two.up("chunker", 0)
        two.ready()
        turn = Asking(chat, *news("second"))
        ended = two.embedding()
        two.end("embedder", ended)
        two.end("chunker", 1)
        turn.answered()
        embeddings.delay_s = 0
        two.up("embedder", ended)
        two.up("chunker", 1)

        # Between two requests: one that is at a process which is killed waits out its deadline.
        for name in ("retriever", "assembler"):
            two.kill(name, 0)
            assert "9174" in chat.say(*news(f"{name} killed"))
            two.up(name, 0)
        two.ready()
        for name in ("retriever", "assembler"):
            turn = Asking(chat, *news(f"{name} ending"))
            two.end(name, 1)
            assert "9174" in turn.answered()
            two.up(name, 1)
        assert chat.retries == 0
        two.ready()

        # With an answer under way: the client asks once more; told to end, a gateway answers first.
        chat.next = 0
        engine.hold()
        turn = Asking(chat, *news("gateway killed"))
        assert engine.asked.wait(30)
        two.kill("gateway", 0)
        engine.release()
        assert "9174" in turn.answered()
        assert chat.retries == 1
        two.up("gateway", 0)
        two.ready()
        chat.next = 1
        engine.hold()
        turn = Asking(chat, *news("gateway ending"))
        assert engine.asked.wait(30)
        ending = threading.Thread(target=two.end, args=("gateway", 1))
        ending.start()
        engine.release()
        assert "9174" in turn.answered()
        ending.join(30)
        assert chat.retries == 1
        chat.next = 0
        assert "9174" in chat.say(*news("end"))

    asked = chat.messages[:-1]
    keys = set(address_keys(asked, "demo"))

    async def whole() -> bool:
        missing, _, coverage = await stored(store, embeddings.dim, asked)
        return not missing and coverage == Coverage(len(keys), len(keys))

    asyncio.run(eventually(whole, REDELIVERED_S))
    _, chunks, _ = asyncio.run(stored(store, embeddings.dim, asked))
    assert (chunks.keys(), set(chunks.values())) == (keys, {1})
    # What a killed embedder had under way, and what was handed out while its sibling ended.
    texts = {m["content"] for m in asked} - {LOCK_QUESTION}
    again = sum(times - 1 for text, times in Counter(embeddings.texts).items() if text in texts)
    assert again <= 2 * GROUP_CHUNKS
