"""What each page shows, out of records: everything that takes time, and nothing that waits."""

from dataclasses import dataclass
from typing import Any

from services.gateway.inspector.budget import parts_of
from services.gateway.inspector.candidates import WHY, candidates_of
from services.gateway.inspector.differ import moved_of, runs_of, weighed_of
from services.gateway.inspector.prompt import messages_of
from services.gateway.inspector.recorded import Record, Told
from services.gateway.inspector.timeline import Row, lasting
from shared.contracts.rpc import Candidate
from shared.prompt.plan import Plan

SHORT = 1200
"""Characters of a message that are shown unfolded."""


@dataclass(frozen=True)
class Read:
    """A record with whose it is."""

    tenant: str
    """The subject's token, as pages are addressed."""
    record: Record

    @property
    def path(self) -> str:
        return f"records/{self.tenant}/{self.record.id}"


def read(tenant: str, body: str) -> Read:
    return Read(tenant, Record.model_validate_json(body))


def request_view(one: Read, rows: list[Row], sequence: int) -> dict[str, Any]:
    record = one.record
    inherited = record.inherited.tip if record.inherited else ""
    return {
        "one": one,
        "record": record,
        "parts": parts_of(record),
        "messages": messages_of(record),
        "recalled": candidates_of(record),
        "scores": {(c.position, c.unit, c.start): c for c in record.candidates},
        "why": WHY,
        "parent": lasting(rows, inherited, sequence) if inherited else None,
        "short": SHORT,
    }


def position_view(one: Read, position: int) -> dict[str, Any]:
    """What one request tells of a message that stands in no recorded prompt: quotations, then candidates."""
    pieces = [piece for message in messages_of(one.record) for piece in message.pieces]
    return {
        "one": one,
        "record": one.record,
        "position": position,
        "quoted": [p for p in pieces if p.quote and p.quote.position == position],
        "ranked": [c for c in one.record.candidates if c.position == position],
    }


def comparison_view(left: Read, right: Read) -> dict[str, Any]:
    a, b = left.record, right.record
    return {
        "left": left,
        "right": right,
        "facts": facts_of(a, b),
        "runs": runs_of(messages_of(a), messages_of(b)),
        "moved": moved_of(a, a.layout, b, b.layout),
        "weighed": weighed_of(a, a.candidates, b, b.candidates),
        "short": SHORT,
    }


def planned_view(one: Read, plan: Plan) -> dict[str, Any]:
    record = one.record
    texts = {c.chunk: c.text for c in record.candidates}
    told = [Told.model_validate(dict(zip(Candidate._fields, c, strict=False))) for c in plan.candidates]
    now = [c.model_copy(update={"text": texts.get(c.chunk, "")}) for c in told]
    return {
        "plan": plan,
        "facts": [
            ("action", record.action or "", plan.action),
            ("reasons", ", ".join(record.reasons), ", ".join(plan.reasons)),
            ("profile", record.profile, plan.profile),
            ("window starts at position", record.layout.window_start, plan.layout.window_start),
            ("excerpts in the block", len(record.layout.block), len(plan.layout.block)),
            ("candidates", len(record.candidates), len(plan.candidates)),
            ("went without", ", ".join(record.degraded), ", ".join(plan.degraded)),
            *_amounts(record.budget, plan.budget),
        ],
        "moved": moved_of(record, record.layout, record, plan.layout),
        "weighed": weighed_of(record, record.candidates, record, now),
    }


def facts_of(a: Record, b: Record) -> list[tuple[str, Any, Any]]:
    return [
        ("session", a.session, b.session),
        ("model", a.model, b.model),
        ("action", a.action or "", b.action or ""),
        ("reasons", ", ".join(a.reasons), ", ".join(b.reasons)),
        ("profile", a.profile, b.profile),
        ("messages of the history", a.length, b.length),
        ("prompt tokens", a.counted, b.counted),
        ("shared with the prompt before", _shared(a), _shared(b)),
        ("read from the engine's cache", _known(a.usage.cached_tokens), _known(b.usage.cached_tokens)),
        ("window starts at position", a.layout.window_start, b.layout.window_start),
        ("excerpts in the block", len(a.layout.block), len(b.layout.block)),
        ("patches", len(a.layout.patches), len(b.layout.patches)),
        ("went without", ", ".join(a.degraded), ", ".join(b.degraded)),
        *_amounts(a.budget, b.budget),
    ]


def _amounts(a: dict[str, int], b: dict[str, int]) -> list[tuple[str, Any, Any]]:
    """Budget lines that differ."""
    lines = [(f"budget: {name}", _known(a.get(name)), _known(b.get(name))) for name in {**a, **b}]
    return [line for line in lines if line[1] != line[2]]


def _shared(record: Record) -> int | str:
    return record.prefix.shared if record.prefix else ""


def _known(value: int | None) -> int | str:
    return "" if value is None else value
