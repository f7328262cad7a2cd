"""What Anthropic Messages demands of a list of messages; every violation in words, none: valid."""

from collections.abc import Iterator
from typing import Any

Message = dict[str, Any]
Block = dict[str, Any]


def faults(messages: list[Message]) -> list[str]:
    return list(_faults(messages))


def _faults(messages: list[Message]) -> Iterator[str]:
    said = [(i, m) for i, m in enumerate(messages) if m["role"] != "system"]
    if not said or said[0][1]["role"] != "user":
        yield "the first message must be the user's"
    waiting: list[str] = []
    serving: set[str] = set()
    for index, message in enumerate(messages):
        if message["role"] not in ("system", "user", "assistant"):
            yield f"messages[{index}]: role {message['role']!r}"
        blocks = list(_blocks(message["content"]))
        yield from (f"messages[{index}]: {fault}" for b in blocks for fault in _block_faults(b))
        if not blocks:
            yield f"messages[{index}]: no content"
        if message["role"] == "system":
            continue
        yield from (f"messages[{index}]: {fault}" for fault in _result_faults(message, blocks, waiting))
        waiting = [b["id"] for b in blocks if b["type"] == "tool_use"]
        for block in blocks:
            if block["type"] == "server_tool_use":
                serving.add(block["id"])
            elif block["type"].endswith("_tool_result"):
                if block["tool_use_id"] not in serving:
                    yield f"messages[{index}]: {block['type']} without its server_tool_use"
                serving.discard(block["tool_use_id"])
        if serving and not waiting and message["role"] == "assistant":
            yield f"messages[{index}]: server_tool_use {serving} without its result"
    if waiting:
        yield f"no results for {waiting}"


def _result_faults(message: Message, blocks: list[Block], waiting: list[str]) -> Iterator[str]:
    kinds = [b["type"] == "tool_result" for b in blocks]
    if kinds != sorted(kinds, reverse=True):
        yield "tool results must stand first"
    brought = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
    if sorted(brought) != sorted(waiting) or (brought and message["role"] != "user"):
        yield f"results {brought} for calls {waiting} of the message before"


def _blocks(content: Any) -> Iterator[Block]:
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    else:
        yield from content


def _block_faults(block: Block) -> Iterator[str]:
    kind = block["type"]
    if kind == "text" and not block["text"].strip():
        yield "a text block is empty"
    if kind == "tool_use" and not isinstance(block["input"], dict):
        yield "input must be an object"
    if kind == "document" and block["source"]["type"] == "text" and not block["source"]["data"]:
        yield "a document is empty"
    if kind == "tool_result" and isinstance(block.get("content"), list):
        if not all(b["type"] in ("text", "image", "document", "search_result") for b in block["content"]):
            yield "a tool result holds what it may not"
        yield from (fault for inner in block["content"] for fault in _block_faults(inner))
