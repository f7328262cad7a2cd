"""What dialects share: where texts stand in a raw message, how they are edited, what opaque blocks are."""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from services.gateway.reading.body import load
from shared.conversation.message import Part, PartKind, Speaker
from shared.errors import InvalidRequest
from shared.prompt.cut import apply_cuts, by_unit
from shared.prompt.render import Edit
from shared.tokens.estimate import upper_bound

IMAGE_TYPES = {"image_url", "input_image", "image", "computer_screenshot"}
PAYLOADS = {"data", "file_data", "encrypted_content", "encrypted_index", "signature"}
"""Fields whose strings are base64: never counted as text."""
PAGE = re.compile(rb"/Type\s*/Page\b")
PAGE_TOKENS = 3000
"""Of the text of a PDF page, at most (Anthropic documents 1,500 to 3,000); its image comes on top."""


def read_spoken(raw: bytes, where: str, speakers: Mapping[str, Speaker]) -> tuple[dict[str, Any], str]:
    """A raw message and its role. Raises `InvalidRequest` naming the field."""
    value = load(raw, where)
    if not isinstance(value, dict):
        raise InvalidRequest(f"'{where}' must be an object.", where)
    role = value.get("role")
    if not isinstance(role, str) or role not in speakers:
        raise InvalidRequest(
            f"'{where}.role' must be one of {', '.join(speakers)}; it is {role!r}.", f"{where}.role"
        )
    return value, role


@dataclass(frozen=True)
class Slot:
    """A place of a raw message: a text at `holder[key]`, or, where `kind` is OPAQUE, the block `holder`."""

    kind: PartKind
    holder: dict[str, Any]
    key: str = ""
    answer: int = 0

    @property
    def text(self) -> str:
        return str(self.holder[self.key]) if self.key else ""


def text_slot(kind: PartKind, holder: dict[str, Any], key: str, where: str, answer: int = 0) -> list[Slot]:
    """The slot of a text that must be there; none for an empty one. Raises `InvalidRequest`."""
    text = holder.get(key)
    if not isinstance(text, str):
        raise InvalidRequest(f"'{where}.{key}' must be a string.", f"{where}.{key}")
    return [Slot(kind, holder, key, answer)] if text else []


def parts_of(slots: Iterable[Slot], image_tokens: int) -> tuple[Part, ...]:
    return tuple(
        opaque_part(slot.holder, image_tokens, slot.answer)
        if slot.kind is PartKind.OPAQUE
        else Part(slot.kind, text=slot.text, answer=slot.answer)
        for slot in slots
    )


def cut_texts(slots: Iterable[Slot], edit: Edit) -> None:
    """Leave the ranges of the edit out, in place. Units count the texts, in order."""
    texts = [slot for slot in slots if slot.kind is not PartKind.OPAQUE]
    for unit, ranges in by_unit(edit.cuts).items():
        if unit < len(texts):
            slot = texts[unit]
            slot.holder[slot.key] = apply_cuts(slot.text, ranges)


def opaque_part(block: dict[str, Any], image_tokens: int, answer: int = 0) -> Part:
    """A block by its digest, `cache_control` left out at every depth."""
    kept = without_cache_control(block)
    digest = hashlib.blake2b(orjson.dumps(kept, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()
    return Part(PartKind.OPAQUE, digest=digest, tokens=opaque_tokens(kept, image_tokens), answer=answer)


def without_cache_control(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_cache_control(v) for k, v in value.items() if k != "cache_control"}
    return [without_cache_control(v) for v in value] if isinstance(value, list) else value


def opaque_tokens(block: dict[str, Any], image_tokens: int) -> int:
    """What a block costs: an image its flat amount, a PDF its pages, anything else its JSON."""
    if block.get("type") in IMAGE_TYPES:
        return image_tokens
    payloads: list[str] = []
    text = orjson.dumps(_without_payloads(block, payloads.append)).decode()
    return upper_bound(text) + sum(_payload_tokens(p, image_tokens) for p in payloads)


def _without_payloads(value: Any, found: Callable[[str], None], name: str = "") -> Any:
    if isinstance(value, dict):
        if value.get("type") in IMAGE_TYPES:
            found("")
            return {}
        return {k: _without_payloads(v, found, k) for k, v in value.items()}
    if isinstance(value, list):
        return [_without_payloads(v, found, name) for v in value]
    if isinstance(value, str) and (name in PAYLOADS or value.startswith("data:")):
        found(value)
        return ""
    return value


def _payload_tokens(payload: str, image_tokens: int) -> int:
    """An image is told as the empty payload. Beyond images and pages: three bytes of a payload a token."""
    if not payload:
        return image_tokens
    data = payload.partition(";base64,")[2] or payload
    if data.startswith("JVBERi"):
        pages = len(PAGE.findall(_decoded(data)))
        if pages:
            return pages * (PAGE_TOKENS + image_tokens)
    return len(data) // 4 + 1


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data)
    except (binascii.Error, ValueError):
        return b""


def hidden_tokens(texts: Iterable[object]) -> int:
    """Upper bound of reasoning in the clear; other values cost nothing."""
    return sum(upper_bound(t) for t in texts if isinstance(t, str))


def payload_tokens(payload: object) -> int:
    """Of encrypted reasoning: three bytes of what it decodes to a token."""
    return len(payload) // 4 + 1 if isinstance(payload, str) else 0


def canonical_json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
