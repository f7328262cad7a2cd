"""What the metrics and the log are told of an exchange that has ended."""

import structlog

from services.gateway.dialects.base import Usage
from services.gateway.prepare.prepared import Prepared
from services.gateway.reading.request import Request
from shared.prompt.place import excerpt_tokens
from shared.prompt.plan import Layout
from shared.telemetry import (
    ACTIONS,
    ENGINE_TOKENS,
    FIRST_TOKEN_SECONDS,
    OCCUPANCY,
    PROMPT_TOKENS,
    REQUESTS,
    STAGE_SECONDS,
)

log = structlog.get_logger(__name__)


def observe(request: Request, done: Prepared, status: int, first_token_s: float | None) -> None:
    REQUESTS.labels(mode=done.mode, dialect=request.dialect.NAME, status=str(status)).inc()
    for stage, seconds in done.timings.items():
        STAGE_SECONDS.labels(stage=stage).observe(seconds)
    for part, tokens in parts_of(request, done).items():
        PROMPT_TOKENS.labels(part=part).inc(tokens)
    OCCUPANCY.observe(done.measured.tokens / max(done.limit, 1))
    if first_token_s is not None:
        FIRST_TOKEN_SECONDS.labels(mode=done.mode).observe(request.read_s + first_token_s)
    if done.plan is not None:
        ACTIONS.labels(action=done.plan.action).inc()
    log.info(
        "exchange",
        mode=done.mode,
        action=done.plan.action if done.plan else None,
        status=status,
        tokens=done.measured.tokens,
        window=done.window,
        degraded=done.degraded,
        first_token_s=None if first_token_s is None else round(first_token_s, 3),
    )


def observe_usage(usage: Usage) -> None:
    told = {
        "prompt": usage.prompt_tokens,
        "cached": usage.cached_tokens,
        "completion": usage.completion_tokens,
    }
    for kind, tokens in told.items():
        ENGINE_TOKENS.labels(kind=kind).inc(tokens or 0)


def parts_of(request: Request, done: Prepared) -> dict[str, int]:
    """Tokens of the prompt by part, which sum to its count; head, block and patches as estimated."""
    ratio = done.measured.tokens / max(done.measured.bound, 1)
    block = excerpt_tokens(Layout(block=done.layout.block), ratio)
    patches = excerpt_tokens(Layout(patches=done.layout.patches), ratio)
    head = min(int(request.head_tokens * ratio), done.measured.tokens)
    turns = max(done.measured.tokens - head - block - patches, 0)
    return {"head": head, "block": block, "patch": patches, "turns": turns}
