from shared.models.embed_bundled import BundledEmbedder
from shared.models.embed_http import HttpEmbedder
from shared.models.open import open_embedder, open_reranker
from shared.models.relevance import LightReranker
from shared.models.rerank_http import HttpReranker
from shared.settings import Settings


async def test_without_addresses_everything_is_in_process() -> None:
    embedder, reranker = open_embedder(Settings()), open_reranker(Settings())
    assert isinstance(embedder, BundledEmbedder)
    assert isinstance(reranker, LightReranker)
    await embedder.close()


async def test_addresses_choose_servers() -> None:
    settings = Settings(embed_url="http://e:1/v1", embed_dim=8, embed_batch=4, rerank_url="http://r:1")
    embedder, reranker = open_embedder(settings), open_reranker(settings)
    assert isinstance(embedder, HttpEmbedder)
    assert (embedder.name, embedder.dim, embedder.batch) == ("bge-m3", 8, 4)
    assert isinstance(reranker, HttpReranker)
    await embedder.close()
    await reranker.close()
