"""A request body, split into raw fields and raw messages without parsing what is inside them.

The hot path is a body of several megabytes of which only the last messages are new. The raw bytes of
each message name it (services/gateway/reading/request.py), and what is kept is forwarded as it came.
"""

import json
from dataclasses import dataclass, field
from itertools import chain

import msgspec
import orjson

from shared.errors import InvalidRequest

DEEPEST = 128
"""Levels of a value. What is written again has at most 254 (orjson), and a translation adds some."""

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(frozen=True)
class Body:
    raw: bytes
    fields: dict[str, bytes]
    """Every field as it came, in its order; the one of the items is empty."""
    items: str
    """Name of the field that carries the history."""
    messages: list[bytes]
    values: dict[str, object] = field(default_factory=dict)
    """The few fields that Backscroll reads, parsed."""

    def with_messages(self, messages: list[bytes], changed: dict[str, bytes]) -> bytes:
        """The body with other messages and some fields set; everything else keeps its bytes and place."""
        fields = self.fields | changed
        parts = [
            orjson.dumps(name) + b":" + (b"[" + b",".join(messages) + b"]" if name == self.items else raw)
            for name, raw in fields.items()
        ]
        return b"{" + b",".join(parts) + b"}"


def split_body(raw: bytes, items: str, read: frozenset[str], *, takes_text: bool = False) -> Body:
    """`takes_text`: a string in place of the list is one user message, and is written back as a list.

    Raises `InvalidRequest` naming the field.
    """
    try:
        fields = _fields.decode(raw)
    except msgspec.ValidationError as error:
        raise InvalidRequest("The body must be a JSON object.") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidRequest(f"The body is not valid JSON: {error}") from error
    if items not in fields:
        raise InvalidRequest(f"'{items}' is required.", items)
    listed = bytes(fields[items])
    if takes_text and listed.startswith(b'"'):
        listed = b'[{"role":"user","content":' + listed + b"}]"
    try:
        messages = [bytes(item) for item in _items.decode(listed)]
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise InvalidRequest(f"'{items}' must be a list.", items) from error
    if not messages:
        raise InvalidRequest(f"'{items}' must hold at least one message.", items)
    plain = {name: (b"" if name == items else bytes(value)) for name, value in fields.items()}
    for name, value in plain.items():
        # The messages are decoded where they are read.
        if not _is_text(value):
            raise InvalidRequest(f"'{name}' is not UTF-8.", name)
    values = {name: load(plain[name], name) for name in read if name in plain}
    return Body(raw, plain, items, messages, values)


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def read_fields(raw: bytes, read: frozenset[str]) -> dict[str, object]:
    """Some fields of a body, parsed. Raises `InvalidRequest`."""
    return {name: load(bytes(value), name) for name, value in _split(raw).items() if name in read}


def _split(raw: bytes) -> dict[str, msgspec.Raw]:
    try:
        return _fields.decode(raw)
    except msgspec.ValidationError as error:
        raise InvalidRequest("The body must be a JSON object.") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidRequest(f"The body is not valid JSON: {error}") from error


def load(raw: bytes, name: str) -> object:
    """Parse one field or message. Lone surrogates, legal in JSON but not in UTF-8, become U+FFFD.

    Raises `InvalidRequest`.
    """
    value = _parsed(raw, name)
    # Most values do not hold so many brackets at all.
    if raw.count(b"[") + raw.count(b"{") > DEEPEST and _is_deeper(value):
        raise InvalidRequest(f"'{name}' is nested more than {DEEPEST} levels deep.", name)
    return value


def _is_deeper(value: object) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        lists = (v.values() if isinstance(v, dict) else v for v in level if isinstance(v, dict | list))
        level = list(chain.from_iterable(lists))
        if not level:
            return False
    return any(isinstance(v, dict | list) for v in level)


def _parsed(raw: bytes, name: str) -> object:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    try:
        text = json.dumps(json.loads(raw), ensure_ascii=False)
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        value: object = json.loads(whole)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"'{name}' is not valid JSON: {error}", name) from error
    return value
