"""What the hot path needs to know of a message, computed once per text and cached."""

from collections.abc import Callable
from dataclasses import dataclass

from shared.conversation.address import address
from shared.conversation.message import Message, PartKind, canonical, unit_parts
from shared.tokens.estimate import Coefficients, upper_bound

SYSTEM = -1
ATTACHED = -2
ROLE_CODES = {"system": SYSTEM, "attached": ATTACHED, "user": 0, "assistant": 1, "tool": 2}


@dataclass(frozen=True, slots=True)
class Facts:
    role: int
    """A `RoleCode`; below 0 (SYSTEM, ATTACHED) where the message has no address."""
    address: bytes
    """Before pairing: a message that brings results is also told by which calls it answers."""
    answers: tuple[str, ...]
    calls: tuple[tuple[str, str], ...]
    """Id and tool name of each call."""
    units: int
    tokens: int
    """Upper bound, overhead included."""
    least: int
    """What of these is no text, and stays where all texts are cut."""
    empty: bool
    """Nothing is said, shown or called."""


@dataclass(frozen=True)
class Weights:
    """What a message costs beside its text."""

    coefficients: Coefficients
    overhead: int


def text_tokens(message: Message, weights: Weights) -> int:
    return sum(upper_bound(p.text, weights.coefficients) for p in message.parts if p.text)


def other_tokens(message: Message, weights: Weights) -> int:
    """Images, calls, what is hidden, and what a template puts around all of it."""
    opaque = sum(p.tokens for p in message.parts if p.kind is PartKind.OPAQUE)
    # What stands around a call costs more than a message does: 17 tokens of ChatML against 5.
    calls = sum(
        upper_bound(c.name + c.arguments, weights.coefficients) + 2 * weights.overhead for c in message.calls
    )
    return opaque + calls + message.hidden_tokens + _messages(message) * weights.overhead


def _messages(message: Message) -> int:
    """What a template makes of it: one for each result that it brings, one for what stands beside them."""
    beside = any(p.kind is not PartKind.RESULT for p in message.parts)
    return len(message.answers) + beside if message.answers else 1


def facts_of(message: Message, key: bytes, weights: Weights) -> Facts:
    least = other_tokens(message, weights)
    return Facts(
        role=ROLE_CODES[message.role],
        address=address(key, canonical(message)),
        answers=message.answers,
        calls=tuple((c.id, c.name) for c in message.calls),
        units=len(unit_parts(message)),
        tokens=text_tokens(message, weights) + least,
        least=least,
        empty=not (message.parts or message.calls),
    )


class FactsCache:
    """Facts of messages by a digest of tenant and raw bytes, in two generations.

    What was used since the last change of generations survives the next one. At some 250 bytes an entry
    the default is at most 64 MB: a million-token conversation is about 10,000 entries. Strict LRU costs
    5 ms a request of that length, generations nothing.
    """

    def __init__(self, size: int = 128_000) -> None:
        self._young: dict[bytes, Facts] = {}
        self._old: dict[bytes, Facts] = {}
        self._size = size

    def all(self, digests: list[bytes], make: Callable[[int], Facts]) -> list[Facts]:
        """In order; `make` reads the message of an index that is not known."""
        young = self._young
        found: list[Facts | None] = [young.get(d) for d in digests]
        facts: list[Facts] = []
        for index, known in enumerate(found):
            if known is None:
                digest = digests[index]
                # A digest can repeat within a request, so young is asked once more.
                known = young.get(digest) or self._old.get(digest) or make(index)
                young[digest] = known
            facts.append(known)
        if len(young) > self._size:
            self._old, self._young = young, {}
        return facts
