"""`python -m services.retriever`"""

from services.retriever.bootstrap import start
from shared.bus import Bus
from shared.models.open import open_embedder, open_reranker
from shared.service import run, run_service
from shared.settings import Settings
from shared.store.open import open_store


async def main(settings: Settings) -> None:
    embedder, reranker = open_embedder(settings), open_reranker(settings)
    store = open_store(settings, embedder.name, embedder.dim)

    async def begin(settings: Settings, bus: Bus) -> None:
        await store.ensure()
        await start(settings, bus, store, embedder, reranker)

    try:
        await run_service("retriever", begin, settings)
    finally:
        await store.close()
        await embedder.close()
        await reranker.close()


if __name__ == "__main__":
    run(main(Settings()))
