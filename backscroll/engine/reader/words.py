"""Content terms: stemmed English words, identifiers whole, pairs of Chinese characters.

Deliberately not the terms that recall searches by (ADR 0003): the reader judges a prompt on its own,
so an answer is no echo of how the prompt was put together.
"""

import re
from functools import lru_cache

import Stemmer

CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_TOKEN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+|[^\W_]+(?:[-_./:][^\W_]+)*")
_PARTS = re.compile(r"[-_./:]")

_ENGLISH_STOP = frozenset(
    re.findall(
        r"\w+",
        """
    a about again all already also am an and any are as at back be been before but by can could did do
    does doing done each else ever every for from get give go going got had has have having he her here
    him his how i if in into is it its just know last let like me mine more most much my no not now of on
    once one only or our ours out over own please pretty quite really recall remember remind said say she
    should so some still such tell than thank thanks that the their them then there these they thing this
    those to today too under until up us use very want was we were what when where which while who whom
    whose why will with would yes yet you your yours s t d ll re ve m don exactly earlier mention mentioned
    told agreed agree ago
    """,
    )
)
_CHINESE_STOP = re.compile(
    r"什么时候|哪一天|哪个|哪些|哪里|哪儿|哪家|哪天|哪位|什么|多少|怎么|怎样|如何|为什么|是不是|有没有|"
    r"请问|请|告诉|还记得|记得|提醒|之前|以前|最后|上次|刚才|后来|现在|已经|一下|我们|你们|他们|咱们|这个|那个|"
    r"[的了是在我你他她它们吗呢吧啊呀嘛和与或也都就还很把被给让对到从几谁哪个有说过着那这]"
)
_stem = Stemmer.Stemmer("english")


def terms(text: str) -> set[str]:
    """The content terms of a text."""
    found: set[str] = set()
    for token in _TOKEN.findall(text):
        if CJK.match(token):
            found |= _pairs(token)
        else:
            found |= _latin(token.lower())
    return found


def probe(term: str) -> str:
    """A string that every lower-cased text with this term contains: a stem ending in i is a word in y."""
    return term[:-1] if len(term) > 3 and term.endswith("i") and term.isascii() else term


@lru_cache(maxsize=65_536)
def _latin(token: str) -> frozenset[str]:
    parts = _PARTS.split(token)
    words = {_stem.stemWord(part) for part in parts if part not in _ENGLISH_STOP}
    if len(parts) > 1:
        words.add(token)
    return frozenset(words)


def _pairs(run: str) -> set[str]:
    pairs: set[str] = set()
    for piece in _CHINESE_STOP.split(run):
        pairs.update(piece[i : i + 2] for i in range(len(piece) - 1))
        if len(piece) == 1:
            pairs.add(piece)
    return pairs
