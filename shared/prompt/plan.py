"""A plan: what the prompt holds, decided by the assembler, rendered by the gateway.

A plan never carries text: an excerpt is a place in the request, which the gateway cuts out of the
very request that it answers (ADR 0002).
"""

from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

FRAME_TOKENS = 160
"""Upper bound of the lines that open and close a block."""
PATCH_FRAME_TOKENS = 96
"""The same of a patch, whose lines are shorter."""
LABEL_TOKENS = 12
"""Of the label that an excerpt stands under, as planned with; what it is in truth is counted when it is
rendered. With a label a turn and a line a kind (planned with 32), LoCoMo conv-26 at 4,096 tokens by terms
alone had AEH .832; with a line a run .843."""


class Excerpt(NamedTuple):
    """A range of one unit of the request.

    `start` and `end` are code points in the unit's text; `digest` is `text_digest` of the range;
    `tokens` is the upper bound, label included.
    """

    position: int
    unit: int
    start: int
    end: int
    digest: str
    tokens: int


class Selection(NamedTuple):
    """What of a JSON text stays: these fields (empty: all) of its first rows."""

    keep: tuple[str, ...]
    rows: int


class Cut(NamedTuple):
    """A range of one unit that is left out of the window, where the unit stands in it.

    A cut is resolved once, by the gateway, and stays while the tip's line lives. `tokens` is the upper
    bound of the whole message after all of its cuts.
    """

    position: int
    unit: int
    start: int
    end: int
    tokens: int
    selection: Selection | None = None
    """What stands in place of the range; None: a line that tells how much was omitted."""


class Allowance(NamedTuple):
    """The assembler's wish that a message be cut to this many engine tokens."""

    position: int
    tokens: int


class Patch(NamedTuple):
    """Excerpts anchored at the message that asked for them."""

    position: int
    excerpts: tuple[Excerpt, ...]


class Layout(BaseModel):
    """What of the history stands in the prompt, besides the head."""

    model_config = ConfigDict(frozen=True)

    window_start: int = 0
    """Position from which on messages stand verbatim."""
    pinned: tuple[int, ...] = ()
    """Positions before the window that stand verbatim: the task of the turn it starts in."""
    cuts: tuple[Cut, ...] = ()
    block: tuple[Excerpt, ...] = ()
    patches: tuple[Patch, ...] = ()

    @property
    def quoted(self) -> tuple[Excerpt, ...]:
        """All excerpts, as they are read."""
        return (*self.block, *(e for patch in self.patches for e in patch.excerpts))


Action = Literal["reuse", "patch", "cold", "evict", "expire", "rebuild", "cut"]
"""Why the layout is as it is; `cut` is the gateway's own, without an assembler."""


class Plan(BaseModel):
    model_config = ConfigDict(frozen=True)

    layout: Layout
    allowances: tuple[Allowance, ...] = ()
    action: Action
    reasons: tuple[str, ...] = ()
    built_at: float
    """When the block was built, seconds since the epoch."""
    budget: dict[str, int] = {}
    """The budget line by line, tokens."""
    candidates: tuple[tuple[int | float | str, ...], ...] = ()
    """What recall ranked, for the record (`Candidate`)."""
    profile: str = ""
    """The scoring profile that ranked them."""
    found: int = 0
    """How many chunks of the request matched at all."""
    drift: dict[str, float] = {}
    """The scores of the drift check."""
    index: str = ""
    """Identity of the store that the next two speak of."""
    indexed_to: int = 0
    covered_to: int = 0
    degraded: tuple[str, ...] = ()
