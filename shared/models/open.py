"""Which model adapters the settings choose."""

from shared.models.embed_bundled import BundledEmbedder
from shared.models.embed_http import HttpEmbedder
from shared.models.port import Embedder, Reranker
from shared.models.relevance import LightReranker
from shared.models.rerank_http import HttpReranker
from shared.settings import Settings


def open_embedder(settings: Settings) -> Embedder:
    if settings.embed_url is None:
        return BundledEmbedder()
    return HttpEmbedder(
        settings.embed_url,
        settings.embed_model,
        settings.embed_dim,
        batch=settings.embed_batch,
        timeout_s=settings.embed_timeout_s,
        query_prefix=settings.embed_query_prefix,
    )


def open_reranker(settings: Settings) -> Reranker:
    """A server is calibrated at its first use, or by `HttpReranker.calibrate` before."""
    if settings.rerank_url is None:
        return LightReranker()
    return HttpReranker(
        settings.rerank_url,
        settings.rerank_model,
        timeout_s=settings.rerank_timeout_s,
        threshold=settings.block_relevance_min,
        cache_ttl_s=settings.rerank_cache_ttl_s,
    )
