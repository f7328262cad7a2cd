"""The second hop: what the best hits speak of and the question does not.

"Who leads Falcon?" - "Marisol." - "Where does Marisol live?" stands in texts that share no word with the
question about Falcon's lead. Smoothing dilutes what a hop finds, so it has a part of the budget of its own
(`interleave.py`). Chains of bAbI, ten each, in 131K tokens at 8K, two facts / three: .20/.70
-> .70/.60; twelve told here: .92/.42 -> 1.00/1.00.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from shared.text.terms import tokens

BEST = 10
"""Hits that terms are taken from."""
TELLING = 0.35
"""Of the best hit's score. Where one text alone speaks of the question, the next nine tell of something else:
with them two facts are found in .58 of twelve chains, without in all, and nothing else changes."""
SAMPLE = 50
"""Hits that rarity is counted in, besides the background."""
BACKGROUND = 64
"""Messages evenly over the history. The store gives no document frequencies, and among the best hits alone
the subject that most of them share looks common: with that order chains of three are found at .10."""
SAMPLE_CHARS = 800
"""Of each text below the ten best: 50 long texts whole take 30 ms to tokenise."""
TERMS = 6


def telling_terms(
    best: Sequence[str], others: Iterable[str], query: Mapping[str, float], weight: float
) -> dict[str, float]:
    """Six terms of the ten best texts that the query lacks, at `weight`.

    Those that most of them share and few of the others have; equal ones in the order of the texts.
    """
    told = [list(dict.fromkeys(tokens(text))) for text in best]
    sample = [set(tokens(text[:SAMPLE_CHARS])) for text in others]
    shared = Counter(token for text in told for token in text if token not in query)
    spread = Counter(token for text in sample for token in text if token in shared)
    texts = len(told) + len(sample)

    def worth(token: str) -> float:
        return shared[token] * math.log((texts + 1) / (spread[token] + 0.5))

    return dict.fromkeys(sorted(shared, key=worth, reverse=True)[:TERMS], weight)
