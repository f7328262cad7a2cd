"""`python -m services.embedder`"""

from services.embedder.bootstrap import start
from shared.bus import Bus
from shared.models.open import open_embedder
from shared.service import run, run_service
from shared.settings import Settings
from shared.store.open import open_store


async def main(settings: Settings) -> None:
    embedder = open_embedder(settings)
    store = open_store(settings, embedder.name, embedder.dim)

    async def begin(settings: Settings, bus: Bus) -> None:
        await store.ensure()
        await start(settings, bus, store, embedder)

    try:
        await run_service("embedder", begin, settings)
    finally:
        await store.close()
        await embedder.close()


if __name__ == "__main__":
    run(main(Settings()))
