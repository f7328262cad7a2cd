"""What a record tells of texts: the beginnings of candidates, and the few lines that stand in lists."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from services.gateway.reading.request import Request
from shared.contracts.rpc import Candidate
from shared.conversation.history import RoleCode
from shared.conversation.message import PartKind

BEGINNING = 240
"""Characters of a candidate, of some 250: less than the prompt beside them."""
QUESTION = 120
LISTED = (
    "model",
    "mode",
    "status",
    "action",
    "reasons",
    "prompt_tokens",
    "window",
    "limit",
    "length",
    "tip",
    "degraded",
    "first_token_s",
)


def candidates_told(
    request: Request, candidates: Iterable[tuple[int | float | str, ...]]
) -> list[dict[str, Any]]:
    """With the beginning of each text, which is in the prompt for the chosen alone."""
    told = [dict(zip(Candidate._fields, candidate, strict=False)) for candidate in candidates]
    return [fields | {"text": _beginning(request, fields)} for fields in told]


def _beginning(request: Request, fields: Mapping[str, Any]) -> str:
    units, number = request.units(fields["position"]), fields["unit"]
    start, end = fields["start"], fields["end"]
    return units[number].text[start : min(end, start + BEGINNING)] if number < len(units) else ""


def question_of(request: Request) -> str:
    """The beginning of what the user said last."""
    for position in range(len(request.shape) - 1, -1, -1):
        if request.role(position) == RoleCode.USER:
            parts = request.message(position).parts
            return " ".join(p.text for p in parts if p.kind is not PartKind.OPAQUE).strip()[:QUESTION]
    return ""


def summary_of(record: Mapping[str, Any], question: str) -> str:
    """ASCII, as headers have to be."""
    layout, inherited = record["layout"], record["inherited"] or {}
    summary = {name: record[name] for name in LISTED} | {
        "session": record["session"],
        "question": question,
        "window_start": layout["window_start"],
        "excerpts": len(layout["block"]),
        "patches": len(layout["patches"]),
        "parent": inherited.get("tip"),
        "parent_length": inherited.get("length"),
        "shared": (record.get("prefix") or {}).get("shared"),
        "told": record["usage"]["prompt_tokens"],
        "cached": record["usage"]["cached_tokens"],
        "answered": record["usage"]["completion_tokens"],
    }
    return json.dumps(summary, separators=(",", ":"))
