"""Upper bounds of token counts, where no tokenizer answers.

The reference's coefficients (1.05 CJK, 1.05 digit, 0.7 other) hold for common Chinese, digits and
letters only. Measured with Qwen's tokenizer they are 0.29 to 0.72 of the truth for emoji, rare CJK,
mathematical signs, Devanagari and control characters. A byte-level tokenizer never makes more tokens
than UTF-8 bytes, so bytes are the bound of every class that is not known to be cheaper. Bytes after
NFC, which some tokenizers apply first: U+1D160 is 4 bytes before and 12 after (9 tokens).
Measured with the same tokenizer and Mistral's (tekken), tokens per character: random small letters .53 to
.65, those of RARE_LETTERS .75, random capitals .65 to .89, rare letters of both cases mixed .90,
punctuation .65 alone and 1.0 at worst. A random hanzi of GB2312's level 1 is 1.03 tokens for Qwen and 1.69
for Mistral, so only those count as common that both know whole.
"""

import string
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from shared.tokens.hanzi import WHOLE_HANZI


@dataclass(frozen=True)
class Coefficients:
    """Tokens per character of the classes that have one; the settings `tok_per_char_*`."""

    cjk: float = 1.05
    digit: float = 1.05
    other: float = 0.7


DEFAULT = Coefficients()
RARE_LETTERS = "jkqvwxz"
CAPITAL, RARE_CAPITAL = 1.3, 1.4
"""Capitals and rare letters merge less: so much more than a common small letter."""
TABLE = 0x20000
"""Where the table ends; code points from here on are at most four UTF-8 bytes, before and after NFC."""


def _bytes(point: int) -> int:
    """The most that a tokenizer can see, whether or not it normalises first."""
    text = chr(point)
    forms = (text, normalize("NFC", text), normalize("NFKC", text))
    return max(len(form.encode("utf-8", "surrogatepass")) for form in forms)


@lru_cache(maxsize=4)
def _weights(c: Coefficients) -> npt.NDArray[np.float32]:
    """Tokens per code point; the last entry stands for everything beyond the table."""
    table = np.array([*map(_bytes, range(TABLE)), 4], dtype=np.float32)
    table[_points(string.ascii_lowercase + " ")] = c.other
    table[_points(string.ascii_uppercase)] = CAPITAL * c.other
    table[_points(RARE_LETTERS)] = CAPITAL * c.other
    table[_points(RARE_LETTERS.upper())] = RARE_CAPITAL * c.other
    table[0x30:0x3A] = c.digit
    table[_points(WHOLE_HANZI)] = c.cjk
    table[_points("，。、！？：；（）“”")] = c.cjk
    return table


def _points(characters: str) -> list[int]:
    return [ord(character) for character in characters]


def upper_bound(text: str, coefficients: Coefficients = DEFAULT) -> int:
    """At least as many tokens as a byte-level tokenizer makes of the text; 0 for the empty text."""
    if not text:
        return 0
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    weights = _weights(coefficients)
    return int(np.ceil(weights[np.minimum(points, TABLE)].sum(dtype=np.float64)))


def tail_within(text: str, tokens: int, coefficients: Coefficients = DEFAULT) -> int:
    """How many characters at the end of the text cost at most so many tokens."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    costs = np.cumsum(_weights(coefficients)[np.minimum(points, TABLE)][::-1], dtype=np.float64)
    return int(np.searchsorted(costs, tokens, side="right"))
