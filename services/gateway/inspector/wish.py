"""The form of "plan again": which settings it offers, and what was filled in."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import get_args

from services.gateway.inspector.replan import Change
from shared.contracts.rpc import Override
from shared.errors import InvalidRequest
from shared.settings import Settings

OFFERED = (
    "profile",
    "memory_max_tokens",
    "recent_window_tokens",
    "query_max_tokens",
    "drift_mode",
    "dense_from",
    "rerank_candidates",
    "score_w_rerank",
    "score_w_recency",
    "score_w_role",
    "mmr_lambda",
    "context_expand_ratio",
)
LEAST_WINDOW = 2048
LONGEST = 40


@dataclass(frozen=True)
class Field:
    name: str
    value: str
    """As it was filled in; empty: the service's own."""
    choices: tuple[str, ...]


def fields_of(given: Mapping[str, str]) -> list[Field]:
    fields = []
    for name in OFFERED:
        choices = tuple(str(choice) for choice in get_args(Settings.model_fields[name].annotation))
        fields.append(Field(name, given.get(name, "").strip()[:LONGEST], choices))
    return fields


def change_of(given: Mapping[str, str]) -> Change:
    """Raises `InvalidRequest` naming the field. Values are judged by the services."""
    overrides: dict[str, Override] = {}
    for field in fields_of(given):
        if field.value:
            overrides[field.name] = field.value if field.choices else _number(field.name, field.value)
    window = given.get("window", "").strip()
    asked = int(_number("window", window)) if window else None
    if asked is not None and asked < LEAST_WINDOW:
        raise InvalidRequest(f"'window' must be at least {LEAST_WINDOW}.", "window")
    return Change(overrides, asked, given.get("without_state") == "on")


def _number(name: str, value: str) -> int | float:
    try:
        found = float(value) if "." in value else int(value)
    except ValueError as error:
        raise InvalidRequest(f"'{name}' must be a number.", name) from error
    if abs(found) == inf:
        raise InvalidRequest(f"'{name}' must be a number.", name)
    return found
