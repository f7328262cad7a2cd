"""Turns, steps, pairs and addresses of a whole request, in one pass over its facts."""

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

    `firsts[p]` is the index of the first raw message that belongs to position p: the system messages
    before it, then the message itself at `bodies[p]`. `head` counts the leading system messages;
    `firsts` has one entry more than there are positions, so that position p is
    `raw[firsts[p]:firsts[p + 1]]`; trailing system messages belong to the last position.
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
    def total_tokens(self) -> int:
        return self.head_tokens + int(self.tokens.sum())

    def history(self, ratio: float) -> History:
        """The packed form, its tokens scaled from the upper bound to engine tokens."""
        scaled = np.ceil(self.tokens * ratio).astype(np.uint32)
        return History(b"".join(self.addresses), self.roles, self.turns, self.steps, self.units, scaled)


def shape_of(facts: list[Facts], key: bytes) -> Shape:
    head = 0
    while head < len(facts) and facts[head].role == SYSTEM:
        head += 1
    firsts: list[int] = []
    bodies: list[int] = []
    addresses: list[bytes] = []
    roles: list[int] = []
    turns: list[int] = []
    steps: list[int] = []
    units: list[int] = []
    tokens: list[int] = []
    tools: dict[int, tuple[str, ...]] = {}
    turn, step, first, carried = 0, 0, head, 0
    seen_user = False
    open_calls: dict[str, tuple[int, str]] = {}
    for index in range(head, len(facts)):
        f = facts[index]
        if f.role == SYSTEM:
            carried += f.tokens
            continue
        if f.role == RoleCode.USER:
            if seen_user:
                turn += 1
            seen_user, step = True, 0
        elif f.role == RoleCode.ASSISTANT:
            step += 1
        if f.calls:
            open_calls = {call: (k, name) for k, (call, name) in enumerate(f.calls)}
        name = f.address
        if f.answers:
            pairs = [open_calls.get(a, ORPHAN) for a in f.answers]
            tools[len(bodies)] = tuple(tool for _, tool in pairs)
            name = address(key, f.address + repr(pairs).encode())
        firsts.append(first)
        bodies.append(index)
        addresses.append(name)
        roles.append(f.role)
        turns.append(turn)
        steps.append(step)
        units.append(f.units)
        tokens.append(f.tokens + carried)
        first, carried = index + 1, 0
    if tokens:
        tokens[-1] += carried
    return Shape(
        head=head,
        head_tokens=sum(f.tokens for f in facts[:head]),
        firsts=[*firsts, len(facts)],
        bodies=bodies,
        addresses=addresses,
        tools=tools,
        roles=np.array(roles, dtype=np.uint8),
        turns=np.array(turns, dtype=np.uint32),
        steps=np.array(steps, dtype=np.uint32),
        units=np.array(units, dtype=np.uint16),
        tokens=np.array(tokens, dtype=np.uint32),
    )
