"""Which messages hold units that their neighbours lift though no word of theirs matched."""

import numpy as np
import numpy.typing as npt

from services.retriever.locate import Bools, Floats, Ints
from shared.conversation.history import History

MOST = 4000
"""Messages a request: what the store reads in some tens of milliseconds."""
BUDGETS = 1
"""Messages for so many budgets are enough: theirs are engine tokens, the budget's an upper bound, two to
three times as many. With 3 no figure was better, and the store took twice the time."""


def lifted(
    history: History, scores: Floats, matched: Ints, outside: Bools, token_floor: int, budget: int
) -> npt.NDArray[np.int64]:
    """Positions worth reading, best first.

    `scores` is over the unit sequence, `matched` the unit indexes that the store found, `outside` over
    positions. Stops once the messages hold `BUDGETS` budgets.
    """
    unmatched = scores.copy()
    unmatched[matched] = 0.0
    best = np.zeros(len(history))
    owner = np.repeat(np.arange(len(history)), history.units)
    np.maximum.at(best, owner, unmatched)
    best[~outside] = 0.0
    tokens = history.tokens.astype(np.int64)
    value = best / np.maximum(tokens, token_floor)
    order = np.lexsort((-np.arange(len(history)), -value))
    order = order[value[order] > 0][:MOST]
    enough = int(np.searchsorted(np.cumsum(tokens[order]), BUDGETS * budget)) + 1
    return order[:enough]
