"""The chat template: messages and tools to a prompt, ChatML.

Special tokens stand at both ends of every text, and a byte-pair tokenizer never merges across them:
the tokens of a prompt are exactly the tokens of its texts, one after the other.
"""

import hashlib
import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backscroll.engine.tokens import Ids, TextEncoder

Message = Mapping[str, Any]
HEAD_ROLES = ("system", "developer")
IMAGE_TYPES = ("image_url", "input_image", "image")


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Image:
    """Costs the same whatever it shows; two images are still two different prefixes."""

    digest: int


Piece = Text | Image
Block = tuple[Piece, ...]


def blocks(messages: Sequence[Message], tools: Sequence[Any] = ()) -> Iterator[Block]:
    """What stands between `<|im_start|>` and `<|im_end|>`, a block a message."""
    rest = list(messages)
    if tools:
        head = rest.pop(0) if rest and rest[0].get("role") in HEAD_ROLES else {"role": "system"}
        yield _merge([*_message_pieces(head), Text(_tools_text(tools))])
    for message in rest:
        yield _merge(_message_pieces(message))


def prompt_ids(
    encoder: TextEncoder,
    messages: Sequence[Message],
    tools: Sequence[Any] = (),
    *,
    add_generation_prompt: bool = True,
    image_tokens: int,
) -> Ids:
    """The tokens of the whole prompt; an image is `image_tokens` ids made from its digest."""
    newline = encoder.encode("\n")
    ids = array("I")
    for block in blocks(messages, tools):
        ids.append(encoder.im_start)
        for piece in block:
            if isinstance(piece, Text):
                ids.extend(encoder.encode(piece.text))
            else:
                ids.extend([piece.digest] * image_tokens)
        ids.append(encoder.im_end)
        ids.extend(newline)
    if add_generation_prompt:
        ids.append(encoder.im_start)
        ids.extend(encoder.encode("assistant\n"))
    return ids


def message_text(message: Message) -> str:
    """The text parts, one a line."""
    return "\n".join(p.text for p in _content_pieces(message.get("content")) if isinstance(p, Text))


def _message_pieces(message: Message) -> list[Piece]:
    pieces: list[Piece] = [Text(f"{message.get('role')}\n"), *_content_pieces(message.get("content"))]
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = (call.get("function") if isinstance(call, dict) else None) or {}
        name, arguments = json.dumps(function.get("name")), function.get("arguments")
        pieces.append(Text(f'\n<tool_call>\n{{"name": {name}, "arguments": {arguments}}}\n</tool_call>'))
    return pieces


def _content_pieces(content: object) -> list[Piece]:
    if isinstance(content, str):
        return [Text(content)]
    if not isinstance(content, list):
        return []
    return [piece for part in content if (piece := _part_piece(part)) is not None]


def _part_piece(part: object) -> Piece | None:
    if not isinstance(part, dict):
        return None
    if part.get("type") in IMAGE_TYPES:
        source = json.dumps(part, sort_keys=True).encode()
        return Image(int.from_bytes(hashlib.blake2b(source, digest_size=4).digest()) | 1 << 31)
    text = part.get("text")
    return Text(text) if isinstance(text, str) else None


def _tools_text(tools: Sequence[Any]) -> str:
    schemas = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
    return f"\n\n# Tools\n\nYou may call these functions:\n<tools>\n{schemas}\n</tools>"


def _merge(pieces: list[Piece]) -> Block:
    """Adjacent texts become one, since no special token stands between them."""
    merged: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Text) and merged and isinstance(merged[-1], Text):
            merged[-1] = Text(merged[-1].text + piece.text)
        else:
            merged.append(piece)
    return tuple(merged)
