"""Settings set otherwise: for one request, or for a look at what they would change."""

from collections.abc import Mapping

from pydantic import ValidationError

from shared.errors import PermanentFault
from shared.settings import Settings

PLANNED = frozenset(
    {
        "recent_window_tokens",
        "memory_min_tokens",
        "memory_max_tokens",
        "patch_max_tokens",
        "query_max_tokens",
        "profile",
        "profile_overrides",
        "memory_target",
        "retrieve_candidates",
        "rerank_candidates",
        "rerank_fallback",
        "mmr_lambda",
        "score_w_rerank",
        "score_w_recency",
        "score_w_role",
        "context_expand_ratio",
        "dense_from",
        "assembly_ttl_s",
        "block_drift_rebuild",
        "drift_mode",
        "block_check_docs",
        "block_check_chars",
    }
)
"""What decides one plan and nothing beyond it, so that it may be set for one request alone."""


def overridden(settings: Settings, values: Mapping[str, object]) -> Settings:
    """Raises `PermanentFault` for a name that is not in `PLANNED`, and for a value that it does not take."""
    if wrong := sorted(values.keys() - PLANNED):
        raise PermanentFault(f"cannot be set for one request: {', '.join(wrong)}")
    return changed(settings, values) if values else settings


def changed(settings: Settings, values: Mapping[str, object]) -> Settings:
    """Raises `PermanentFault` for a value that a setting does not take."""
    try:
        return Settings(**{**dict(settings), **values})
    except ValidationError as error:
        first = error.errors()[0]
        raise PermanentFault(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
