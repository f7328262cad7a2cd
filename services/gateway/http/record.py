"""The record of an assembled exchange: what the model saw, and why."""

import time
import uuid
from dataclasses import asdict

import orjson

from services.gateway.dialects.base import Usage
from services.gateway.http.told import candidates_told, question_of, summary_of
from services.gateway.prepare.prepared import Prepared
from services.gateway.reading.request import Request
from shared.contracts.events import ExchangeRecorded


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
    plan, parent = done.plan, done.parent
    at = time.time()
    body = {
        "id": record_id,
        "session": session,
        "tip": request.tip_key.hex(),
        "length": len(request.shape),
        "dialect": request.dialect.NAME,
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
        "profile": plan.profile if plan else "",
        "found": plan.found if plan else 0,
        "candidates": candidates_told(request, plan.candidates) if plan else [],
        "inherited": {
            "tip": request.prefixes([parent.length])[parent.length].hex(),
            "length": parent.length,
            "tokens": parent.tokens,
            "window_start": parent.layout.window_start,
        }
        if parent
        else None,
        "prefix": prefix_lines(done, usage),
        "shrunk": done.shrunk,
        "rejected_excerpts": done.rejected,
        "degraded": done.degraded,
        "timings_s": done.timings,
        "first_token_s": first_token_s,
        "usage": asdict(usage),
        "places": done.places,
        "asked": done.asked.model_dump(mode="json") if done.asked else None,
        "prompt": orjson.Fragment(done.body),
    }
    return ExchangeRecorded(
        tenant=request.reader.tenant,
        session=session,
        era=done.era,
        record=record_id,
        at=at,
        body=orjson.dumps(body).decode(),
        summary=summary_of(body, question_of(request)),
    )


def prefix_lines(done: Prepared, usage: Usage) -> dict[str, object] | None:
    """Our account of the engine's prefix cache, and beside it the engine's own; tokens."""
    prefix = done.prefix
    if prefix is None:
        return None
    return {
        "tokens": prefix.tokens,
        "shared": prefix.shared,
        "reason": prefix.reason,
        "parts": prefix.parts,
        "engine_cached": usage.cached_tokens,
    }
