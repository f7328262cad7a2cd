from pathlib import Path

import pytest

from shared.settings import Settings
from shared.store import open_store
from shared.store.edge import EdgeStore
from shared.store.open import collection_name
from shared.store.server import ServerStore


async def test_edge_without_a_server(tmp_path: Path) -> None:
    store = open_store(Settings(data_dir=tmp_path), "BAAI/bge-m3", 8)
    assert isinstance(store, EdgeStore)
    await store.ensure()
    await store.close()
    assert (tmp_path / "store" / "backscroll-baai-bge-m3" / "edge_config.json").exists()


async def test_a_server_where_the_settings_name_one() -> None:
    store = open_store(Settings(qdrant_url="http://127.0.0.1:1"), "m", 8)
    assert isinstance(store, ServerStore)
    assert store.name == "backscroll-m"
    await store.close()


@pytest.mark.parametrize("model", ["../../etc", "a/b", "a b?#%", "e5:small"])
def test_names_are_safe(model: str) -> None:
    name = collection_name("backscroll", model)
    assert name.replace("-", "").isalnum()
