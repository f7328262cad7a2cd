"""The shape of a request's history: packed arrays, some 30 bytes a message, no bodies.

Position counts addressed messages: user, assistant and tool messages. System messages after the head and
attached items (reasoning) have no address; each stays with the message after it, and its tokens count there.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from shared.conversation.address import KEY_MASK, SIZE

RECORD = np.dtype(
    [
        ("address", "S16"),
        ("role", "u1"),
        ("turn", "<u4"),
        ("step", "<u4"),
        ("units", "<u2"),
        ("tokens", "<u4"),
        ("least", "<u4"),
    ]
)
MOST_UNITS = 0xFFFF
"""Structural units of a message, as many as `units` can tell."""


class RoleCode(IntEnum):
    USER = 0
    ASSISTANT = 1
    TOOL = 2


@dataclass(frozen=True)
class History:
    """One entry a position, oldest first.

    `turns` numbers turns: each user message begins the next; turn 0 is what stands before the first.
    `steps` numbers the steps inside a turn: 0 is the user message and what follows it up to the first
    assistant message, each assistant message begins the next. Between a call and its result nothing
    begins. `units` is the number of structural units of the message. `tokens` are estimated engine
    tokens of the whole message, its overhead and what stands before it without an address included;
    `least` is what of these no cut can take away: all that is not the message's text.
    """

    addresses: bytes
    roles: npt.NDArray[np.uint8]
    turns: npt.NDArray[np.uint32]
    steps: npt.NDArray[np.uint32]
    units: npt.NDArray[np.uint16]
    tokens: npt.NDArray[np.uint32]
    least: npt.NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.roles)

    @property
    def address_keys(self) -> npt.NDArray[np.int64]:
        """The low 63 bits of each address, as the store's integer index takes them."""
        low = np.frombuffer(self.addresses, dtype=">u8")[1::2]
        return (low & np.uint64(KEY_MASK)).astype(np.int64)

    @property
    def works_with_tools(self) -> bool:
        """The turn that asks has tool results."""
        asking = self.turns == self.turns[-1:]
        return bool((self.roles[asking] == RoleCode.TOOL).any())

    @property
    def unit_offsets(self) -> npt.NDArray[np.int64]:
        """Where each position's units begin in the unit sequence; one entry more than positions."""
        return np.concatenate(([0], np.cumsum(self.units, dtype=np.int64)))

    def address(self, position: int) -> bytes:
        return self.addresses[position * SIZE : (position + 1) * SIZE]

    def pack(self) -> bytes:
        packed = np.empty(len(self), dtype=RECORD)
        packed["role"], packed["turn"], packed["step"] = self.roles, self.turns, self.steps
        packed["units"], packed["tokens"], packed["least"] = self.units, self.tokens, self.least
        raw = packed.view(np.uint8).reshape(len(self), RECORD.itemsize)
        raw[:, :SIZE] = np.frombuffer(self.addresses, dtype=np.uint8).reshape(len(self), SIZE)
        return raw.tobytes()

    @classmethod
    def unpack(cls, data: bytes) -> "History":
        packed = np.frombuffer(data, dtype=RECORD)
        raw = np.frombuffer(data, dtype=np.uint8).reshape(len(packed), RECORD.itemsize)
        return cls(
            addresses=raw[:, :SIZE].tobytes(),
            roles=packed["role"].copy(),
            turns=packed["turn"].copy(),
            steps=packed["step"].copy(),
            units=packed["units"].copy(),
            tokens=packed["tokens"].copy(),
            least=packed["least"].copy(),
        )
