"""Every parameter, in one place.

Names, defaults and reasons of the first four groups are those of the reference system; the README's
table is tested against this file. A value comes from, in this order: the environment
(``BACKSCROLL_`` + the name in capitals), the TOML file named by ``BACKSCROLL_CONFIG``, the default.
"""

import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from shared.errors import PermanentFault


class EngineSettings(BaseModel):
    """One of several engines."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, description="In metrics, logs and health.")
    url: str = Field(description="OpenAI-compatible, with `/v1`.")
    models: tuple[str, ...] = Field(
        (), description="Names, `*` for any characters; empty: every model that no other engine names."
    )
    api_key_env: str | None = Field(None, description="Name of the environment variable that holds its key.")
    chat_only: bool = Field(False, description="Serves Chat Completions only: other dialects are translated.")
    strict_alternation: bool = Field(False, description="Its template wants user and assistant in turns.")
    developer_role: bool = Field(True, description="Its template knows the role `developer`; else: `system`.")
    tool_ids: Literal["any", "mistral"] = Field(
        "any", description="Ids of tool calls: `mistral` for nine letters or digits."
    )
    context: int | None = Field(None, ge=2048, description="Its window, tokens; unset: `max_context`.")


class Settings(BaseSettings):
    # Compose and charts pass what is unset as an empty string
    model_config = SettingsConfigDict(
        env_prefix="BACKSCROLL_", env_ignore_empty=True, extra="forbid", frozen=True
    )

    # Window and budget. Token amounts other than the window are caps (shared/prompt/budget.py).
    max_context: int = Field(262_144, ge=2048, description="The engine's window, tokens.")
    ctx_slack: int = Field(8, ge=0, description="Buffer for what counting leaves over, tokens.")
    gen_reserve_default: int = Field(
        8192, ge=1, description="Output reserve without `max_tokens`; at most 1/32 of the window."
    )
    gen_reserve_max: int = Field(
        32_768, ge=1, description="Largest output reserve; at most 1/8 of the window."
    )
    recent_window_tokens: int = Field(
        65_536, ge=1, description="Recent turns kept verbatim at an eviction; at most 1/4 of usable."
    )
    memory_min_tokens: int = Field(
        4096, ge=1, description="Floor of the memory block; at most 1/64 of usable."
    )
    memory_max_tokens: int = Field(
        65_536, ge=1, description="Cap of the memory block; at most 1/4 of usable."
    )
    patch_max_tokens: int = Field(
        8192, ge=1, description="Cap of one patch; at most 1/8 of usable, 1/32 from 32K on."
    )
    query_max_tokens: int = Field(
        2048, ge=1, description="Cap of the search text; at most 1/128 of usable, or 256."
    )
    clamp_margin_tokens: int = Field(
        512, ge=0, description="Kept free when `max_tokens` is clamped on an estimate."
    )
    clamp_margin_div: int = Field(64, ge=1, description="That margin is at most the window divided by this.")
    retry_on_overfit: bool = Field(
        True, description="Shrink and send once more when the engine refuses a prompt as too long."
    )
    publish_from: float = Field(
        0.75, gt=0, le=1, description="Share of usable from which on messages are published."
    )

    # Chunks and counting.
    structure_chunking: bool = Field(True, description="One structural unit is one chunk.")
    chunk_tokens: int = Field(768, ge=32, description="A unit above this is split at natural boundaries.")
    chunk_overlap_tokens: int = Field(
        128, ge=0, description="Overlap of parts, only where `structure_chunking` is off."
    )
    chars_per_token: float = Field(
        2.5, gt=0, description="Characters aimed at per token when a unit is split."
    )
    tok_per_char_cjk: float = Field(1.05, gt=0, description="Upper bound per common CJK character.")
    tok_per_char_digit: float = Field(1.05, gt=0, description="Upper bound per ASCII digit.")
    tok_per_char_other: float = Field(0.7, gt=0, description="Upper bound per ASCII letter or space.")
    msg_overhead_tokens: int = Field(8, ge=0, description="Upper bound of a template's cost per message.")
    image_tokens: int = Field(1024, ge=0, description="What an image counts.")
    tool_policies: Path | None = Field(
        None, description="TOML file that says how results of tools give way; unset: their tail stays."
    )
    token_counter: Literal["auto", "vllm", "llamacpp", "tgi", "anthropic", "file", "bound"] = Field(
        "auto", description="How prompts are counted; `auto`: by what the engine offers."
    )
    tokenizer_file: Path | None = Field(
        None, description="A `tokenizer.json`, for engines that offer no way to count."
    )

    # Recall and scoring.
    embed_url: str | None = Field(
        None, description="OpenAI-style `/embeddings` server; unset: the bundled model."
    )
    embed_model: str = Field("bge-m3", description="Model name sent to `embed_url`.")
    embed_dim: int = Field(
        1024, ge=1, description="Dimension of `embed_model`; the bundled model brings its own."
    )
    embed_query_prefix: str = Field("", description="Put before a search text, for models that want it.")
    embed_batch: int = Field(16, ge=1, description="Texts a request to the embedding server.")
    embed_timeout_s: float = Field(30, gt=0)
    embed_wait_s: float = Field(120, ge=0, description="Longest wait for the terms of what is not indexed.")
    query_embed_timeout_s: float = Field(
        2.0, gt=0, description="After this a query is answered by terms alone."
    )
    rerank_url: str | None = Field(
        None, description="Rerank server; unset: a light scorer, for the drift check only."
    )
    rerank_model: str = Field("bge-reranker-v2-m3", description="Model name sent to `rerank_url`.")
    rerank_timeout_s: float = Field(30, gt=0)
    rerank_fallback: Literal["fused", "zero"] = Field(
        "fused", description="Without a reranker: rank by the fused order, or (the reference) by 0."
    )
    rerank_cache_ttl_s: int = Field(10_800, ge=0)
    count_timeout_s: float = Field(10, gt=0)
    profile: Literal["auto", "seed", "conversation", "agent", "documents"] = Field(
        "auto", description="Scoring profile; `auto` chooses by the shape of the request."
    )
    profile_overrides: dict[str, bool | int | float | None] = Field(
        {}, description="Parts of the profile set otherwise, to see what each contributes."
    )
    memory_target: float = Field(
        0.05, ge=0, le=1, description="Nothing below this share of the best score is taken."
    )
    retrieve_candidates: int = Field(200, ge=1, description="Candidates ranked; profile `seed` only.")
    rerank_candidates: int = Field(200, ge=1, description="Best candidates that the reranker scores.")
    mmr_lambda: float = Field(0.7, ge=0, le=1)
    score_w_rerank: float = Field(0.55, ge=0)
    score_w_recency: float = Field(0.30, ge=0)
    score_w_role: float = Field(0.15, ge=0)
    context_expand_ratio: float = Field(0.25, ge=0, description="Share of the block for neighbours; `seed`.")
    dense_from: float = Field(
        0.8, ge=0, le=1, description="Vectors join once they cover this share of the request."
    )

    # Reuse and drift.
    assembly_ttl_s: int = Field(10_800, ge=1, description="A memory block older than this is built anew.")
    block_drift_rebuild: bool = Field(
        True, description="Check whether what is in the prompt answers the question."
    )
    drift_mode: Literal["rebuild", "patch"] = Field(
        "patch", description="What a drift costs: a new block, or a patch beside the question."
    )
    block_relevance_min: float = Field(
        0.30, ge=0, le=1, description="Below this the best text in the prompt does not answer."
    )
    block_check_docs: int = Field(128, ge=1)
    block_check_chars: int = Field(600, ge=1)
    session_ttl_s: int = Field(86_400, ge=1, description="How long the state of a conversation is kept.")
    max_sessions: int = Field(64, ge=1, description="Conversations whose state a gateway keeps in memory.")

    # The engine and the parts.
    engine_url: str | None = Field(
        None,
        pattern="^https?://",
        description="OpenAI-compatible engine, with `/v1`; unset: the demo engine.",
    )
    engine_api_key: str | None = Field(
        None, repr=False, description="Sent to the engine when the client sends no key."
    )
    engines: tuple[EngineSettings, ...] = Field(
        (), description="Several engines by model name; `engine_url` then serves the other models."
    )
    engine_timeout_s: float = Field(600, gt=0, description="Longest time for a whole answer.")
    engine_idle_timeout_s: float = Field(
        120, gt=0, description="Longest silence of the engine within an answer that has begun."
    )
    nats_url: str | None = Field(
        None, repr=False, description="NATS server; unset: one is started as a child process."
    )
    qdrant_url: str | None = Field(None, description="Qdrant server; unset: Qdrant Edge under `data_dir`.")
    qdrant_api_key: str | None = Field(None, repr=False)
    collection: str = Field("backscroll", description="Name of the chunk collection; its model is added.")
    data_dir: Path = Field(Path(".backscroll"), description="Where embedded parts keep their data.")
    host: str = "127.0.0.1"
    port: int = Field(8400, ge=0, le=65_535)
    health_port: int = Field(
        0, ge=0, le=65_535, description="Health and metrics of a service run alone; 0: any free port."
    )
    keys_file: Path | None = Field(
        None, description="API keys, one JSON file; unset: the bucket `keys` on the NATS server."
    )
    max_body_bytes: int = Field(64 * 1024 * 1024, ge=1024)
    max_messages: int = Field(100_000, ge=1, description="Messages in a request.")
    max_concurrent_requests: int = Field(
        256, ge=1, description="Requests of a tenant that run at once in one gateway."
    )
    store_max_age_s: int = Field(
        0, ge=0, description="How long the chunk store keeps a text that nobody publishes; 0: for ever."
    )
    stream_max_age_s: int = Field(7 * 86_400, ge=60, description="How long events can be replayed.")
    stream_max_ages: dict[str, int] = Field(
        {}, description='Seconds by name, for streams that are kept for another time: `{"RECORDS": 86400}`.'
    )
    stream_max_bytes: int = Field(8 * 1024**3, ge=1024**2)
    stream_replicas: int = Field(1, ge=1, le=5, description="Copies of each stream in a NATS cluster.")
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    otlp_endpoint: str | None = Field(
        None, description="OTLP/HTTP collector for traces, `http://host:4318`; unset: no traces."
    )

    @property
    def recall_timeout_s(self) -> float:
        """Longest wait for one answer of the retriever: its models' deadlines and time for the store."""
        return self.rerank_timeout_s + self.query_embed_timeout_s + 10.0

    @property
    def assemble_timeout_s(self) -> float:
        """Longest wait for a plan: rank, judge a drift, recall anew."""
        return 3 * self.recall_timeout_s + 5.0

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        file = os.environ.get("BACKSCROLL_CONFIG")
        if file and not Path(file).is_file():
            raise PermanentFault(f"BACKSCROLL_CONFIG: there is no file {file}")
        toml = (TomlConfigSettingsSource(settings_cls, toml_file=file),) if file else ()
        return (init_settings, env_settings, *toml)
