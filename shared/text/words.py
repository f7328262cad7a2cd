"""Text to normalised lexical tokens."""

import re

_WORD = re.compile(r"\w+")


def tokens(text: str) -> list[str]:
    """Normalised lexical tokens in order, with repetition."""
    return [word.lower() for word in _WORD.findall(text)]
