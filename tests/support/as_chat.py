"""What a prompt of another dialect costs: its texts as chat messages, by a real tokenizer."""

from collections.abc import Iterator
from typing import Any

import orjson

IMAGES = {"image", "input_image", "computer_screenshot"}
SILENT = {"type", "id", "call_id", "tool_use_id", "role", "status", "signature", "encrypted_content", "data"}
"""Fields whose strings are no part of what a model reads, or are not read as text."""


def as_chat(messages: list[bytes]) -> list[dict[str, Any]]:
    """One message each; every string that a model reads, and every image."""
    return [{"role": "user", "content": list(_pieces(orjson.loads(m)))} for m in messages]


def _pieces(value: Any, name: str = "") -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if value.get("type") in IMAGES:
            yield {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
            return
        silent = SILENT - {"data"} if value.get("type") == "text" else SILENT
        for key, inner in value.items():
            if key not in silent:
                yield from _pieces(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _pieces(inner, name)
    elif isinstance(value, str):
        yield {"type": "text", "text": value}
