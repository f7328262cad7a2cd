"""One request as the gateway sees it: raw messages, their facts, the shape of its history."""

import hashlib
import time
from dataclasses import dataclass, replace
from functools import cached_property

from services.gateway.dialects.base import Dialect
from services.gateway.reading import session
from services.gateway.reading.body import Body, split_body
from shared.contracts.events import Unit
from shared.contracts.rpc import SearchText
from shared.conversation.address import prefix_hashes, tenant_key
from shared.conversation.facts import Facts, FactsCache, Weights, facts_of
from shared.conversation.history import MOST_UNITS
from shared.conversation.message import Message, PartKind, units
from shared.conversation.shape import Shape, shape_of
from shared.errors import InvalidRequest
from shared.prompt.render import Edit, Rendered
from shared.tokens.estimate import upper_bound

SEARCH_MESSAGES = 8
"""Newest messages whose texts are searched with; with a decay of .7 the next would weigh below .06."""


@dataclass(frozen=True)
class Reader:
    """What reading a request needs beside its body."""

    tenant: str
    weights: Weights
    image_tokens: int
    cache: FactsCache
    max_messages: int

    def of(self, tenant: str) -> "Reader":
        return replace(self, tenant=tenant)


class Request:
    """Raises `InvalidRequest` at construction for a body that cannot be read."""

    def __init__(self, raw: bytes, reader: Reader, dialect: Dialect) -> None:
        started = time.perf_counter()
        self.reader = reader
        self.dialect = dialect
        self._messages: dict[int, Message] = {}
        self._units: dict[int, tuple[Unit, ...]] = {}
        self.sources: dict[int, str] = {}
        """By length, what `body_source` said (services/gateway/prepare/source.py)."""
        read = dialect.READS | session.FIELDS
        self.body: Body = split_body(raw, dialect.ITEMS, read, takes_text=dialect.TAKES_TEXT)
        self.model = self._string("model")
        self.stream = bool(self.body.values.get("stream"))
        limits = dialect.MAX_TOKENS
        self.max_tokens_field = next((n for n in limits if self.body.values.get(n) is not None), limits[-1])
        self.max_tokens = self._limit(self.max_tokens_field)
        self.key = tenant_key(reader.tenant)
        if len(self.body.messages) > reader.max_messages:
            items = dialect.ITEMS
            raise InvalidRequest(f"'{items}' holds more than {reader.max_messages} messages.", items)
        facts = self._facts()
        self.shape: Shape = shape_of(facts, self.key)
        self.read_s = time.perf_counter() - started

    def _string(self, name: str) -> str:
        value = self.body.values.get(name)
        if value is None:
            raise InvalidRequest(f"'{name}' is required.", name)
        if not isinstance(value, str):
            raise InvalidRequest(f"'{name}' must be a string.", name)
        return value

    def _limit(self, name: str) -> int | None:
        value, least = self.body.values.get(name), self.dialect.LEAST_TOKENS
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InvalidRequest(f"'{name}' must be an integer, at least {least}.", name)
        return value

    def _facts(self) -> list[Facts]:
        self.digests = [self.digest(raw) for raw in self.body.messages]
        return self.reader.cache.all(self.digests, self._fact)

    def digest(self, raw: bytes) -> bytes:
        """Names a raw message of this tenant in this dialect: in another the same bytes can mean else."""
        # A salt costs nothing, a key another block for each message.
        salt = self.key[: hashlib.blake2b.SALT_SIZE]
        return hashlib.blake2b(raw, digest_size=16, salt=salt, person=self.dialect.NAME.encode()).digest()

    def _fact(self, index: int) -> Facts:
        facts = facts_of(self._read(index), self.key, self.reader.weights)
        if facts.units > MOST_UNITS:
            where = f"{self.dialect.ITEMS}[{index}]"
            raise InvalidRequest(f"'{where}' holds more than {MOST_UNITS} texts and tool calls.", where)
        return facts

    def _read(self, index: int) -> Message:
        return self.dialect.read_message(self.body.messages[index], index, self.reader.image_tokens)

    def prefixes(self, lengths: list[int]) -> dict[int, bytes]:
        """The chain hash of the prefix of each length."""
        return prefix_hashes(self.key, self.model, self.shape.packed_addresses, lengths)

    @cached_property
    def tip_key(self) -> bytes:
        return self.prefixes([len(self.shape)])[len(self.shape)]

    @cached_property
    def label(self) -> str:
        """Names the session of a client that names none: equal beginnings share it."""
        return self.prefixes([1])[1].hex()

    @cached_property
    def head_tokens(self) -> int:
        """Upper bound of leading system messages and every field that becomes part of the prompt."""
        coefficients = self.reader.weights.coefficients
        texts = sum(
            upper_bound(self.body.fields[name].decode(), coefficients)
            for name in self.dialect.HEAD
            if name in self.body.fields
        )
        return self.shape.head_tokens + texts + self.reader.weights.overhead

    def message(self, position: int) -> Message:
        found = self._messages.get(position)
        if found is None:
            found = self._messages[position] = self._read(self.shape.bodies[position])
        return found

    def units(self, position: int) -> tuple[Unit, ...]:
        found = self._units.get(position)
        if found is None:
            tools = self.shape.tools.get(position, ())
            found = self._units[position] = units(self.message(position), tools)
        return found

    def turn(self, position: int) -> int:
        return int(self.shape.turns[position])

    def role(self, position: int) -> int:
        return int(self.shape.roles[position])

    def search_texts(self, max_chars: int) -> tuple[SearchText, ...]:
        """Texts to search with, newest first, each cut to its end."""
        found = []
        for position in range(len(self.shape) - 1, max(len(self.shape) - 1 - SEARCH_MESSAGES, -1), -1):
            message = self.message(position)
            text = "\n".join(p.text for p in message.parts if p.kind is not PartKind.OPAQUE)
            calls = "\n".join(f"{c.name}({c.arguments})" for c in message.calls)
            text = f"{text}\n{calls}".strip()
            if text:
                found.append(SearchText(message.role, text[-max_chars:]))
        return tuple(found)

    def render(self, rendered: Rendered) -> list[bytes]:
        """The messages that the engine is sent: what stays keeps its bytes, head included."""
        messages = list(self.body.messages[: self.shape.head])
        if rendered.lead:
            messages.append(self.dialect.new_user_message(rendered.lead.rstrip("\n")))
        for position in rendered.positions:
            first, last = self.shape.firsts[position], self.shape.firsts[position + 1]
            edit = rendered.edits.get(position)
            if edit is None:
                messages += self.body.messages[first:last]
            else:
                body = self.shape.bodies[position]
                messages += self.body.messages[first:body]
                messages.append(self._edited(position, edit))
                messages += self.body.messages[body + 1 : last]
        return messages

    def _edited(self, position: int, edit: Edit) -> bytes:
        return self.dialect.edit_message(
            self.body.messages[self.shape.bodies[position]], self.message(position), edit
        )
