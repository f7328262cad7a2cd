"""Who is speaking, where texts say it themselves: `Maria: I moved to Lyon.`

A question that names one of them is mostly about what that one said (LoCoMo at 8K .932 -> .945).
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_SPEAKER = re.compile(r"(?:\[[^\]\n]{1,60}\] ?)?([^\W\d_][\w.\-]{1,30}(?: [^\W\d_][\w.\-]*)?)(?:: |：)")
_NAME = re.compile(r"[^\W\d_][\w\-]+")


def speaker(text: str) -> str:
    """The name that a text begins with, after a date in brackets where there is one; else empty."""
    found = _SPEAKER.match(text)
    return found[1].lower() if found else ""


def named(question: str) -> frozenset[str]:
    """Words of a question that may be somebody's name."""
    return frozenset(word.lower() for word in _NAME.findall(question) if word[0] != word[0].lower())


def favoured(texts: Sequence[str], names: frozenset[str]) -> npt.NDArray[np.bool_]:
    """Which texts are said by one who is named, the first name being enough; none where all are: then it
    tells nothing."""
    said = np.array([speaker(text) for text in texts], dtype=object)
    by_named = np.array([bool(who) and (who in names or who.split()[0] in names) for who in said], dtype=bool)
    return by_named & ~by_named.all()
