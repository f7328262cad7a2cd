"""An answer as server-sent events, the way OpenAI clients expect them."""

import json
import re
from typing import Any

from backscroll.engine.engine import Completion

_PIECE = re.compile(r"\s*\S{1,12}|\s+")
"""A word, or a few characters of a text without blanks."""


def stream_events(envelope: dict[str, Any], completion: Completion, *, with_usage: bool) -> list[bytes]:
    """Role, pieces of the text or the calls, finish reason, usage where asked for, `[DONE]`."""
    deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": ""}, None)]
    deltas += [({"content": piece}, None) for piece in _PIECE.findall(completion.text)]
    for index, call in enumerate(completion.calls):
        head = call.body() | {"function": {"name": call.name, "arguments": ""}}
        deltas.append(({"tool_calls": [{"index": index, **head}]}, None))
        deltas += [
            ({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, None)
            for piece in _PIECE.findall(call.arguments)
        ]
    deltas.append(({}, completion.finish_reason))
    chunks = [
        {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}]}
        for delta, reason in deltas
    ]
    if with_usage:
        chunks.append({"choices": [], "usage": completion.usage()})  # type: ignore[dict-item]
    shell = {**envelope, "object": "chat.completion.chunk"}
    return [*(_event(json.dumps({**shell, **chunk})) for chunk in chunks), _event("[DONE]")]


def _event(data: str) -> bytes:
    return f"data: {data}\n\n".encode()
