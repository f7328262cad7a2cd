"""The record of an assembled exchange: what the model saw, and why."""

import time
import uuid
from dataclasses import asdict

import orjson

from services.gateway.dialects.base import Usage
from services.gateway.prepare.prepared import Prepared
from services.gateway.reading.request import Request
from shared.contracts.events import ExchangeRecorded
from shared.contracts.rpc import Candidate


def new_record_id() -> str:
    return uuid.uuid4().hex


def make_record(
    record_id: str,
    request: Request,
    session: str,
    done: Prepared,
    usage: Usage,
    status: int,
    first_token_s: float | None,
) -> ExchangeRecorded:
    """Everything that the page of a request needs, the exact prompt included."""
    plan = done.plan
    at = time.time()
    body = {
        "id": record_id,
        "session": session,
        "model": request.model,
        "at": at,
        "mode": done.mode,
        "status": status,
        "window": done.window,
        "limit": done.limit,
        "prompt_tokens": done.measured.tokens,
        "prompt_tokens_exact": done.measured.exact,
        "action": plan.action if plan else None,
        "reasons": plan.reasons if plan else (),
        "budget": plan.budget if plan else {},
        "drift": plan.drift if plan else {},
        "layout": done.layout.model_dump(),
        "candidates": [dict(zip(Candidate._fields, c, strict=True)) for c in plan.candidates] if plan else [],
        "inherited": {"length": done.parent.length, "tokens": done.parent.tokens} if done.parent else None,
        "shrunk": done.shrunk,
        "rejected_excerpts": done.rejected,
        "degraded": done.degraded,
        "timings_s": done.timings,
        "first_token_s": first_token_s,
        "usage": asdict(usage),
        "prompt": orjson.Fragment(done.body),
    }
    return ExchangeRecorded(
        tenant=request.reader.tenant,
        session=session,
        record=record_id,
        at=at,
        body=orjson.dumps(body).decode(),
    )
