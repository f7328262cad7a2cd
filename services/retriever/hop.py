"""The second hop: what the best hits speak of and the question does not.

"Who leads Falcon?" - "Marisol." - "Where does Marisol live?" stands in texts that share no word with the
question about Falcon's lead. Measured on 20 chains each in 131K tokens at 8K: two facts .45 -> .95, three
.30 -> 1.00. Dialogue gains nothing by it (LoCoMo .875/.842 -> .869/.842).
"""

from collections import Counter
from collections.abc import Sequence

from shared.text.terms import tokens

BEST = 10
"""Hits that terms are taken from."""
SAMPLE = 50
"""Hits that rarity is counted in. The store gives no document frequencies; those among the best hits
order terms nearly as well as those of the whole history (LoCoMo .869/.841 against .875/.844), and equally
rare terms come in the order of the hits, which carries chains of two (.95 against .55)."""
SAMPLE_CHARS = 800
"""Of each hit below the ten best: 50 long texts whole take 30 ms to tokenise."""
TERMS = 6


def rare_terms(texts: Sequence[str], query: dict[str, float], weight: float) -> dict[str, float]:
    """The six rarest terms of the ten best of `texts` (best first) that the query lacks, at `weight`."""
    texts = [*texts[:BEST], *(text[:SAMPLE_CHARS] for text in texts[BEST:SAMPLE])]
    found = [list(dict.fromkeys(tokens(text))) for text in texts]
    frequency = Counter(token for text in found for token in text)
    new = dict.fromkeys(token for text in found[:BEST] for token in text if token not in query)
    return dict.fromkeys(sorted(new, key=lambda token: frequency[token])[:TERMS], weight)
