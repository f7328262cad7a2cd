"""Streams as chat engines send them."""

from typing import Any

import orjson

ENVELOPE = {"id": "chatcmpl-7", "object": "chat.completion.chunk", "created": 1700, "model": "m"}
USAGE = {
    "prompt_tokens": 50,
    "completion_tokens": 7,
    "total_tokens": 57,
    "prompt_tokens_details": {"cached_tokens": 48},
}
DONE = b"data: [DONE]\n\n"


def data(value: Any) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\n\n"


def delta(**fields: Any) -> bytes:
    return data(ENVELOPE | {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]})


def text(piece: str) -> bytes:
    return delta(content=piece)


def call(index: int, arguments: str = "", **head: str) -> bytes:
    """`head`: `id` and `name`, in a call's first delta."""
    function = {"arguments": arguments} | ({"name": head["name"]} if "name" in head else {})
    told = {"index": index, "function": function} | ({"id": head["id"]} if "id" in head else {})
    return delta(tool_calls=[told])


def finish(reason: str = "stop", **more: Any) -> bytes:
    return data(ENVELOPE | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason, **more}]})


def usage() -> bytes:
    return data(ENVELOPE | {"choices": [], "usage": USAGE})


def ending(reason: str = "stop") -> bytes:
    return finish(reason) + usage() + DONE
