"""What the hot path needs to know of a message, computed once per text and cached."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from shared.conversation.address import address
from shared.conversation.message import Message, PartKind, canonical, unit_parts
from shared.tokens.estimate import Coefficients, upper_bound

SYSTEM = -1
ROLE_CODES = {"system": SYSTEM, "user": 0, "assistant": 1, "tool": 2}


@dataclass(frozen=True, slots=True)
class Facts:
    role: int
    """A `RoleCode`, or SYSTEM."""
    address: bytes
    """Before pairing: a message that brings results is also told by which calls it answers."""
    answers: tuple[str, ...]
    calls: tuple[tuple[str, str], ...]
    """Id and tool name of each call."""
    units: int
    tokens: int
    """Upper bound, overhead included."""


@dataclass(frozen=True)
class Weights:
    """What a message costs beside its text."""

    coefficients: Coefficients
    overhead: int


def message_tokens(message: Message, weights: Weights) -> int:
    texts = sum(upper_bound(p.text, weights.coefficients) for p in message.parts if p.text)
    opaque = sum(p.tokens for p in message.parts if p.kind is PartKind.OPAQUE)
    calls = sum(
        upper_bound(c.name + c.arguments, weights.coefficients) + weights.overhead for c in message.calls
    )
    return texts + opaque + calls + weights.overhead


def facts_of(message: Message, key: bytes, weights: Weights) -> Facts:
    return Facts(
        role=ROLE_CODES[message.role],
        address=address(key, canonical(message)),
        answers=message.answers,
        calls=tuple((c.id, c.name) for c in message.calls),
        units=len(unit_parts(message)),
        tokens=message_tokens(message, weights),
    )


class FactsCache:
    """Facts by the digest of a message's raw bytes; the least recently used are forgotten.

    The key carries the tenant, since an address does. At some 250 bytes an entry the default is
    64 MB: a million-token conversation is about 10,000 entries.
    """

    def __init__(self, size: int = 250_000) -> None:
        self._entries: OrderedDict[bytes, Facts] = OrderedDict()
        self._size = size

    def get(self, digest: bytes, make: Callable[[], Facts]) -> Facts:
        entry = self._entries.get(digest)
        if entry is None:
            entry = self._entries[digest] = make()
            if len(self._entries) > self._size:
                self._entries.popitem(last=False)
        else:
            self._entries.move_to_end(digest)
        return entry
