"""What the doctor says of the store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backscroll.doctor import Finding, examine
from shared.models.embed_bundled import DIM, BundledEmbedder
from shared.settings import Settings
from shared.store.open import open_collection, open_store
from tests.support.qdrant_http import serve_qdrant


@pytest.fixture(params=["edge", "server"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    if request.param == "edge":
        yield Settings(data_dir=tmp_path)
        return
    with serve_qdrant(tmp_path) as (url, _):
        yield Settings(data_dir=tmp_path, qdrant_url=url)


async def told(settings: Settings) -> Finding:
    (found,) = [f async for f in examine(settings, None, probe_overflow=False) if f.part == "store"]
    return found


async def make(settings: Settings, name: str, dim: int) -> None:
    store = open_collection(settings, name, dim)
    await store.ensure()
    await store.close()


async def test_a_store_that_is_to_be_made(settings: Settings) -> None:
    found = await told(settings)
    assert found.ok
    assert "backscroll-multilingual-e5-small is made at the first start" in found.text


async def test_a_store_that_is_there(settings: Settings) -> None:
    store = open_store(settings, BundledEmbedder.name, DIM)
    await store.ensure()
    await store.close()
    found = await told(settings)
    assert found.ok
    assert f"backscroll-multilingual-e5-small, dimension {DIM}" in found.text


async def test_another_models_store_can_fill_it(settings: Settings) -> None:
    await make(settings, "backscroll-older", 8)
    await make(settings, "replay-scratch-now-older", 8)
    found = await told(settings)
    assert "beside backscroll-older" in found.text
    assert "replay" not in found.text
    assert "`backscroll reindex`" in found.mend


async def test_a_store_of_another_dimension(settings: Settings) -> None:
    await make(settings, "backscroll-multilingual-e5-small", DIM + 1)
    found = await told(settings)
    assert f"dimension {DIM + 1}, the model gives {DIM}" in found.text
    assert "BACKSCROLL_COLLECTION" in found.mend
