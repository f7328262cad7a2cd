"""How the result of a tool gives way, where its own tool says so (ADR 0012).

A policy is asked only where a text must be cut anyway, and only for what it may leave of it: the fields and
rows of JSON that matter, or a head and a tail. Where nothing that it allows fits, the tail stays, as of
every other text.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, model_validator

from shared.prompt.plan import Selection
from shared.text.cut import head_to, tail_from

SHRINK = 0.75
"""Head and tail shrink by this until they fit."""


class ToolPolicy(BaseModel):
    """Fields and rows go before head and tail, where the result is JSON that has them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep: tuple[str, ...] = ()
    """Fields of the object, or of the objects in the list, that stay; empty: all."""
    rows: int | None = Field(None, ge=1)
    """Rows of a list that stay; fewer where those do not fit."""
    head: int = Field(0, ge=0)
    tail: int = Field(0, ge=0)
    """Characters."""

    @model_validator(mode="after")
    def _says_something(self) -> "ToolPolicy":
        if not (self.keep or self.rows or self.head or self.tail):
            raise ValueError("says nothing: set keep, rows, head or tail")
        return self


ToolPolicies = Mapping[str, ToolPolicy]
"""By a tool's name or a pattern with `*`; of several patterns the first counts."""


class Left(NamedTuple):
    """The range of a text that is left out, and what stands in its place."""

    start: int
    end: int
    selection: Selection | None


def policy_of(policies: ToolPolicies, tool: str | None) -> ToolPolicy | None:
    if tool is None:
        return None
    exact = policies.get(tool)
    return exact or next((p for name, p in policies.items() if fnmatchcase(tool, name)), None)


def left_out(
    text: str, policy: ToolPolicy, standing: Callable[[Left], str], fits: Callable[[str], bool]
) -> Left | None:
    """The least that the policy leaves out so that what stands then fits; None where nothing does."""
    for left in (*_selections(text, policy), *_middles(text, policy)):
        stands = standing(left)
        if len(stands) < len(text) and fits(stands):
            return left
    return None


def _selections(text: str, policy: ToolPolicy) -> Iterator[Left]:
    if not (policy.keep or policy.rows):
        return
    data = _loaded(text)
    longest = max((len(rows) for rows in _lists(data)), default=0)
    rows = min(policy.rows or longest, longest)
    while data is not None:
        selection = Selection(policy.keep, rows)
        if selected(text, selection) is not None:
            yield Left(0, len(text), selection)
        if rows <= 1:
            return
        rows //= 2


def _middles(text: str, policy: ToolPolicy) -> Iterator[Left]:
    head, tail = policy.head, policy.tail
    while head or tail:
        start = head_to(text, head) if head else 0
        end = tail_from(text, tail) if tail else len(text)
        if start < end:
            yield Left(start, end, None)
        head, tail = int(head * SHRINK), int(tail * SHRINK)


def selected(text: str, selection: Selection) -> str | None:
    """The fields and rows as JSON, with the number of rows that are omitted; None where there are none."""
    data = _loaded(text)
    if isinstance(data, list):
        chosen: Any = _rows(data, selection)
    elif isinstance(data, dict):
        kept = _fields(data, selection)
        chosen = {k: _rows(v, selection) if isinstance(v, list) else v for k, v in kept.items()}
    else:
        return None
    try:
        stands = json.dumps(chosen, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        # An escaped lone surrogate becomes one that no request can carry.
        stands.encode()
    except ValueError:
        return None
    return stands


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _lists(data: Any) -> Iterator[list[Any]]:
    if isinstance(data, list):
        yield data
    elif isinstance(data, dict):
        yield from (value for value in data.values() if isinstance(value, list))


def _fields(row: dict[str, Any], selection: Selection) -> dict[str, Any]:
    """In the order of the row. A row without any of the fields is one of another kind and stays whole."""
    kept = {name: value for name, value in row.items() if name in selection.keep}
    return kept or row


def _rows(rows: list[Any], selection: Selection) -> list[Any]:
    shown = [_fields(row, selection) if isinstance(row, dict) else row for row in rows[: selection.rows]]
    omitted = len(rows) - len(shown)
    return [*shown, f"[... {omitted} of {len(rows)} rows omitted ...]"] if omitted else shown
