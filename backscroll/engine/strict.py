"""What the strictest chat templates demand on top: Mistral's alternation, first roles and ids."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from backscroll.engine.validate import validate_messages

MISTRAL_ID = re.compile(r"[0-9a-zA-Z]{9}")


def mistral_faults(messages: Sequence[Any]) -> list[str]:
    """Every violation, those of `validate_messages` too; empty: valid."""
    faults = validate_messages(messages)
    if all(isinstance(m, Mapping) for m in messages):
        faults += [*_order_faults(messages), *_id_faults(messages)]
    return faults


def _order_faults(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    roles = [m.get("role") for m in messages]
    if "developer" in roles:
        yield f"messages[{roles.index('developer')}]: unknown role 'developer'."
    if "system" in roles[1:]:
        yield f"messages[{roles.index('system', 1)}]: a system message may only be the first."
    rest = [m for m in messages if m.get("role") != "system"]
    # Calls and their results stand outside of the alternation.
    counted = [m.get("role") for m in rest if m.get("role") == "user" or _answers(m)]
    for turn, role in enumerate(counted):
        if (role == "user") != (turn % 2 == 0):
            yield "Conversation roles must alternate user/assistant/user/assistant/..."
            break
    if rest and rest[0].get("role") != "user":
        yield "The first message after the system message must be a user's."
    for before, after in pairwise(m.get("role") for m in rest):
        if (before, after) in (("assistant", "assistant"), ("tool", "user")):
            yield f"Unexpected role {after!r} after role {before!r}."


def _answers(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "assistant" and not message.get("tool_calls")


def _id_faults(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    ids = [call.get("id") for m in messages for call in m.get("tool_calls") or ()]
    ids += [m.get("tool_call_id") for m in messages if m.get("role") == "tool"]
    for identity in ids:
        if not isinstance(identity, str) or not MISTRAL_ID.fullmatch(identity):
            yield f"Tool call id {identity!r} must be nine letters or digits."
