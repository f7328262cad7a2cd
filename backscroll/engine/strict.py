"""What the strictest chat templates refuse: Mistral's alternation, first roles and ids, Qwen's user."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from backscroll.engine import validate_messages

MISTRAL_ID = re.compile(r"[0-9a-zA-Z]{9}")


def strict_faults(messages: Sequence[Mapping[str, Any]], *, mistral_ids: bool = False) -> list[str]:
    """Every violation; empty: valid. Includes what `validate_messages` demands."""
    faults = validate_messages(messages)
    roles = [m["role"] for m in messages]
    if "developer" in roles:
        faults.append("unknown role developer")
    if "system" in roles[1:]:
        faults.append(f"a system message at {roles.index('system', 1)}")
    rest = [m for m in messages if m["role"] != "system"]
    if not rest or rest[0]["role"] != "user":
        faults.append("the first message after the system message must be a user's")
    # Mistral's template counts users and answers; calls and results stand between them.
    counted = [m["role"] for m in rest if m["role"] == "user" or _answers(m)]
    for i, role in enumerate(counted):
        if (role == "user") != (i % 2 == 0):
            faults.append(f"roles must alternate: {counted[: i + 1]}")
            break
    for i, (before, after) in enumerate(pairwise(rest)):
        pair = (before["role"], after["role"])
        if pair in (("assistant", "assistant"), ("tool", "user")):
            faults.append(f"{before['role']} and {after['role']} follow each other at {i}")
    if mistral_ids:
        ids = [c["id"] for m in messages for c in m.get("tool_calls") or []]
        ids += [m["tool_call_id"] for m in messages if m["role"] == "tool"]
        faults += [f"id {i!r}" for i in ids if not MISTRAL_ID.fullmatch(i)]
    return faults


def _answers(message: Mapping[str, Any]) -> bool:
    return message["role"] == "assistant" and not message.get("tool_calls")
