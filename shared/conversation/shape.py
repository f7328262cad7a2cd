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
"""Number and tool of a result whose call is not in the request."""


@dataclass(frozen=True)
class Shape:
    """How the raw messages of a request form a history.

    Position p is `raw[firsts[p]:firsts[p + 1]]`: what stands before it without an address, then the
    message itself at `bodies[p]`; what trails without an address belongs to the last position. `head`
    counts the leading system messages.
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
    least: npt.NDArray[np.uint32]
    """Of these, what stays where every text is cut."""

    def __len__(self) -> int:
        return len(self.bodies)

    @cached_property
    def packed_addresses(self) -> bytes:
        return b"".join(self.addresses)

    def history(self, ratio: float) -> History:
        """The packed form, its tokens scaled from the upper bound to engine tokens."""
        scaled = np.ceil(self.tokens * ratio).astype(np.uint32)
        least = np.ceil(self.least * ratio).astype(np.uint32)
        return History(self.packed_addresses, self.roles, self.turns, self.steps, self.units, scaled, least)


def shape_of(facts: list[Facts], key: bytes) -> Shape:
    roles = np.array([f.role for f in facts], dtype=np.int8)
    tokens = np.array([f.tokens for f in facts], dtype=np.int64)
    least = np.array([f.least if f.role >= 0 else f.tokens for f in facts], dtype=np.int64)
    bodies = np.flatnonzero(roles >= 0)
    others = np.flatnonzero(roles != SYSTEM)
    head = int(others[0]) if len(others) else len(facts)
    firsts = np.concatenate(([head], bodies[:-1] + 1, [len(facts)])) if len(bodies) else np.array([head])
    own = roles[bodies]
    positions = [facts[i] for i in bodies.tolist()]
    runs = _runs(own)
    addresses, tools, inside = _paired(positions, runs, key)
    # A user's message that says nothing begins no turn: pinned, it would be no task and, for some
    # templates, no user.
    empty = np.array([f.empty for f in positions], dtype=bool)
    turns = np.cumsum((own == RoleCode.USER) & ~inside & ~empty)
    return Shape(
        head=head,
        head_tokens=int(tokens[:head].sum()),
        firsts=firsts.tolist(),
        bodies=bodies.tolist(),
        addresses=addresses,
        tools=tools,
        roles=own.astype(np.uint8),
        turns=turns.astype(np.uint32),
        steps=_steps(runs, turns, inside).astype(np.uint32),
        units=np.array([f.units for f in positions], dtype=np.uint16),
        tokens=_by_position(tokens, firsts),
        least=_by_position(least, firsts),
    )


def _by_position(amounts: npt.NDArray[np.int64], firsts: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    """Each position's sum, what is attached to it included."""
    if len(firsts) < 2:
        return np.zeros(0, np.uint32)
    return np.add.reduceat(amounts, firsts[:-1]).astype(np.uint32)


def _runs(roles: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
    """Where the assistant takes the word.

    Its messages that follow each other are one step: some dialects send each of several parallel calls
    as a message of its own.
    """
    assistant: npt.NDArray[np.bool_] = roles == RoleCode.ASSISTANT
    before = np.concatenate(([False], assistant[:-1]))
    begins: npt.NDArray[np.bool_] = assistant & ~before
    return begins


def _steps(
    runs: npt.NDArray[np.bool_], turns: npt.NDArray[np.int64], inside: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """How often the assistant took the word so far in the same turn, but for a word inside a step."""
    begun: npt.NDArray[np.int64] = np.concatenate(([0], np.cumsum(runs & ~inside)))
    return np.subtract(begun[1:], begun[np.searchsorted(turns, turns)])


def _paired(
    positions: list[Facts], runs: npt.NDArray[np.bool_], key: bytes
) -> tuple[list[bytes], dict[int, tuple[str, ...]], npt.NDArray[np.bool_]]:
    """Addresses, the tools behind results, and which positions stand between a call and its result.

    A result is also told by which call it answers, counted in the words that the assistant took at once.
    """
    addresses = [f.address for f in positions]
    tools: dict[int, tuple[str, ...]] = {}
    waiting: dict[str, tuple[int, int, str]] = {}
    run_of = np.cumsum(runs).tolist()
    spans = np.zeros(len(positions) + 1, dtype=np.int64)
    run = number = 0
    for position, f in enumerate(positions):
        if f.calls:
            if run_of[position] != run:
                run, number = run_of[position], 0
            for call, name in f.calls:
                waiting[call] = (position, number, name)
                number += 1
        if f.answers:
            found = [waiting.pop(a, (position, *ORPHAN)) for a in f.answers]
            pairs = [(which, tool) for _, which, tool in found]
            tools[position] = tuple(tool for _, tool in pairs)
            addresses[position] = address(key, f.address + repr(pairs).encode())
            for asked, _, _ in found:
                spans[asked + 1] += 1
                spans[position + 1] -= 1
    return addresses, tools, np.cumsum(spans[:-1]) > 0
