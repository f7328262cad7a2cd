"""A recall on a store in memory, and a conversation for it."""

from services.retriever.recall import Recall
from shared.contracts.rpc import Candidate
from shared.settings import Settings
from tests.support.memory_store import MemoryStore
from tests.unit.services.retriever.support import FakeEmbedder, FakeReranker, Talk

TALK = Talk(
    [
        ("user", "The staging server of project Falcon listens on port 7391."),
        ("assistant", "Noted, I will remember it."),
        *[("user", f"Let us talk about the weather in week {week}.") for week in range(20)],
        ("user", "We should plan the garden party."),
        ("assistant", "A garden party needs chairs."),
        ("user", "Which port does the staging server of Falcon use?"),
    ]
)
NO_RANK = FakeReranker(ranks=False)


def recall(
    store: MemoryStore,
    embedder: FakeEmbedder | None = None,
    reranker: FakeReranker = NO_RANK,
    **values: object,
) -> Recall:
    return Recall(Settings(**values), store, embedder or FakeEmbedder(), reranker)


async def stored(talk: Talk = TALK) -> MemoryStore:
    store = MemoryStore()
    await talk.store_in(store)
    return store


def text_of(talk: Talk, chosen: Candidate) -> str:
    return talk.messages[chosen.position][1][chosen.start : chosen.end]
