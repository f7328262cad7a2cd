"""The last guard: `max_tokens` never asks for more than the window has left."""

from services.gateway.prepare.prepared import Policy, Prepared
from services.gateway.reading.request import Request


def clamped(request: Request, done: Prepared, policy: Policy) -> dict[str, bytes]:
    """`max_tokens`, where the client asked for more output than the window has left."""
    if request.max_tokens is None:
        return {}
    reserve = done.window - policy.limits.ctx_slack - done.limit
    room = done.window - policy.limits.ctx_slack - done.measured.tokens
    if done.measured.tokens > done.limit:
        # Sent though our bound says no: if it fits after all, it fits with what was kept for the answer.
        room = reserve
    elif not done.measured.exact:
        # The margin is for what engines add by themselves; what `limit` kept for the answer stays.
        margin = min(policy.clamp_margin_tokens, done.window // policy.clamp_margin_div)
        room = max(room - margin, min(room, reserve))
    if request.max_tokens <= room:
        return {}
    return {request.max_tokens_field: str(max(room, 1)).encode()}
