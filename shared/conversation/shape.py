"""Turns, steps, pairs and addresses of a whole request, from its facts.

Vectorised: the only loop over messages is the one over those with tool calls or results.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shared.conversation.address import address
from shared.conversation.facts import SYSTEM, Facts
from shared.conversation.history import History, RoleCode

ORPHAN = (-1, "")
"""A result whose call is not in the request."""


@dataclass(frozen=True)
class Shape:
    """How the raw messages of a request form a history.

    Position p is `raw[firsts[p]:firsts[p + 1]]`: the system messages before it, then the message itself
    at `bodies[p]`; trailing system messages belong to the last position. `head` counts the leading
    system messages.
    """

    head: int
    head_tokens: int
    firsts: list[int]
    bodies: list[int]
    addresses: list[bytes]
    tools: dict[int, tuple[str, ...]]
    """By position: names of the tools whose results it brings."""
    roles: npt.NDArray[np.uint8]
    turns: npt.NDArray[np.uint32]
    steps: npt.NDArray[np.uint32]
    units: npt.NDArray[np.uint16]
    tokens: npt.NDArray[np.uint32]
    """Upper bounds."""

    def __len__(self) -> int:
        return len(self.bodies)

    @cached_property
    def packed_addresses(self) -> bytes:
        return b"".join(self.addresses)

    def history(self, ratio: float) -> History:
        """The packed form, its tokens scaled from the upper bound to engine tokens."""
        scaled = np.ceil(self.tokens * ratio).astype(np.uint32)
        return History(self.packed_addresses, self.roles, self.turns, self.steps, self.units, scaled)


def shape_of(facts: list[Facts], key: bytes) -> Shape:
    roles = np.array([f.role for f in facts], dtype=np.int8)
    tokens = np.array([f.tokens for f in facts], dtype=np.int64)
    bodies = np.flatnonzero(roles != SYSTEM)
    head = int(bodies[0]) if len(bodies) else len(facts)
    firsts = np.concatenate(([head], bodies[:-1] + 1, [len(facts)])) if len(bodies) else np.array([head])
    own = roles[bodies]
    turns = np.cumsum(own == RoleCode.USER)
    positions = [facts[i] for i in bodies.tolist()]
    addresses, tools = _paired(positions, key)
    return Shape(
        head=head,
        head_tokens=int(tokens[:head].sum()),
        firsts=firsts.tolist(),
        bodies=bodies.tolist(),
        addresses=addresses,
        tools=tools,
        roles=own.astype(np.uint8),
        turns=turns.astype(np.uint32),
        steps=_steps(own, turns).astype(np.uint32),
        units=np.array([f.units for f in positions], dtype=np.uint16),
        tokens=np.add.reduceat(tokens, firsts[:-1]).astype(np.uint32)
        if len(bodies)
        else np.zeros(0, np.uint32),
    )


def _steps(roles: npt.NDArray[np.int8], turns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How often the assistant took the word so far in the same turn.

    Messages of the assistant that follow each other are one step: some dialects send each of several
    parallel calls as a message of its own.
    """
    assistant = roles == RoleCode.ASSISTANT
    begins = assistant & ~np.concatenate(([False], assistant[:-1]))
    begun = np.concatenate(([0], np.cumsum(begins)))
    return begun[1:] - begun[np.searchsorted(turns, turns)]


def _paired(positions: list[Facts], key: bytes) -> tuple[list[bytes], dict[int, tuple[str, ...]]]:
    """Addresses, and the tools behind results: a result is also told by which call it answers."""
    addresses = [f.address for f in positions]
    tools: dict[int, tuple[str, ...]] = {}
    open_calls: dict[str, tuple[int, str]] = {}
    last = -1
    for position, f in enumerate(positions):
        if f.calls:
            if position != last + 1:
                open_calls = {}
            last = position
            for call, name in f.calls:
                open_calls[call] = (len(open_calls), name)
        if f.answers:
            pairs = [open_calls.get(a, ORPHAN) for a in f.answers]
            tools[position] = tuple(tool for _, tool in pairs)
            addresses[position] = address(key, f.address + repr(pairs).encode())
    return addresses, tools
