"""Planning a recorded request again: the real assembler and retriever are asked, nothing is written.

`Assemble` is a question: tips, records and messages are written by the gateway alone, and only for a
request that it answers. What is asked may differ from the record by settings of `PLANNED`, by the window,
and by the state that the request found. The store is asked as it is now.
"""

from dataclasses import dataclass, field

from shared.bus import ASSEMBLE, Bus
from shared.contracts.rpc import Assemble, Override
from shared.errors import DependencyUnavailable
from shared.prompt.plan import Plan


@dataclass(frozen=True)
class Change:
    """What is to be different; nothing: what would be planned now."""

    overrides: dict[str, Override] = field(default_factory=dict)
    window: int | None = None
    without_state: bool = False
    """As if no earlier request of this conversation were known: recall for certain."""


async def replan(bus: Bus, asked: Assemble, change: Change, timeout_s: float) -> Plan:
    """Raises `DependencyUnavailable`, and `PermanentFault` for a value that a setting does not take."""
    query = asked.model_copy(
        update={
            "overrides": change.overrides,
            "window": change.window or asked.window,
            "tip": None if change.without_state else asked.tip,
            "wait_for_index": False,
        }
    )
    reply = await bus.call(ASSEMBLE, query, timeout_s=timeout_s)
    if reply.plan is None:
        raise DependencyUnavailable(ASSEMBLE.part, "the assembler waits for the index")
    return reply.plan
