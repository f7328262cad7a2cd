"""The window as a bar: what each part of the prompt takes, and what is left."""

from dataclasses import dataclass

import numpy as np

from services.gateway.inspector.recorded import Record
from shared.prompt.place import excerpt_tokens, tokens_after_cuts
from shared.prompt.plan import Layout
from shared.prompt.window import last_step

MEANINGS = {
    "head": "system prompt and tools",
    "block": "excerpts recalled from the older history",
    "recent": "recent turns, word for word",
    "patch": "excerpts added beside a question",
    "last": "the step that asks",
    "room": "free: the prompt may grow so far before the window jumps",
    "reserve": "kept for the answer, and slack",
}


@dataclass(frozen=True)
class Part:
    name: str
    tokens: int
    start: float
    """Of the window, 0 to 1."""
    share: float
    meaning: str


def parts_of(record: Record) -> list[Part]:
    """In the order of the prompt; they sum to the window.

    The prompt's total is the best count there is. Of its parts the recent turns are what the estimates of
    the others leave.
    """
    left = record.counted
    amounts: dict[str, int] = {}
    for name, tokens in _estimated(record).items():
        amounts[name] = min(tokens, left)
        left -= amounts[name]
    amounts |= {
        "recent": left,
        "room": max(record.limit - record.counted, 0),
        "reserve": record.window - record.limit,
    }
    total = max(sum(amounts.values()), 1)
    parts, start = [], 0.0
    for name, meaning in MEANINGS.items():
        share = amounts[name] / total
        parts.append(Part(name, amounts[name], start, share, meaning))
        start += share
    return parts


def _estimated(record: Record) -> dict[str, int]:
    layout, ratio = record.layout, record.ratio
    return {
        "head": record.budget.get("head", 0),
        "last": _last(record),
        "block": excerpt_tokens(Layout(block=layout.block), ratio),
        "patch": excerpt_tokens(Layout(patches=layout.patches), ratio),
    }


def _last(record: Record) -> int:
    history = record.history
    if history is None or not len(history):
        return 0
    return int(np.sum(tokens_after_cuts(history, record.layout.cuts, record.ratio)[last_step(history) :]))
