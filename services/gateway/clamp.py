"""The last guard: `max_tokens` never asks for more than the window has left."""

from services.gateway.prepared import Policy, Prepared
from services.gateway.request import Request


def clamped(request: Request, done: Prepared, policy: Policy) -> dict[str, bytes]:
    """`max_tokens`, where the client asked for more output than the window has left."""
    if request.max_tokens is None:
        return {}
    margin = min(policy.clamp_margin_tokens, done.window // policy.clamp_margin_div)
    room = done.window - policy.limits.ctx_slack - done.measured.tokens
    if not done.measured.exact:
        # The bound is never below the count; the margin is for what engines add by themselves.
        room -= margin
    if request.max_tokens <= room:
        return {}
    return {request.max_tokens_field: str(max(room, 1)).encode()}
