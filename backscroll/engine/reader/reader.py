"""Finds the sentence that answers: overlap of content terms, weighted by how rare they are here."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backscroll.engine.reader.phrases import NOT_FOUND, NOTED, OWN_SENTENCES, TRANSLATED, language_of
from backscroll.engine.reader.sentences import Asked, asks, sentences, split_question
from backscroll.engine.reader.words import CJK, probe, terms
from backscroll.engine.template import message_text

ENOUGH = 0.5
"""Share of the question's weight that an answer covers at least."""
PAIR = 0.92
"""Two sentences that answer together count a little less than one that does alone."""
VALUE = 0.08
"""Added where the question asks for a number or a date and the sentence holds one."""

_ASKS_VALUE = re.compile(
    r"\b(?:number|code|when|how many|how much|extension|date|day|time|version|price|pin)\b|"
    r"多少|几|号码|编号|什么时候|哪天|哪一天|日期|时间|版本|工位号",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|[零一二三四五六七八九十百]+[月日号楼点]|周[一二三四五六日]",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Found:
    text: str
    terms: frozenset[str]


class Reader:
    """Deterministic: the same messages give the same answer."""

    def answer(self, messages: Sequence[Mapping[str, Any]]) -> str:
        """A sentence of the messages, an acknowledgement of a statement, or that nothing was found."""
        asked_at = max(i for i, m in enumerate(messages) if m.get("role") == "user")
        texts = [message_text(m) for m in messages]
        asked = split_question(texts[asked_at])
        if asked is None:
            return NOTED[language_of(texts[asked_at])]
        language = language_of(asked.question)
        texts[asked_at] = asked.above
        best = _best_answer(asked, texts)
        if best is None:
            return NOT_FOUND[language]
        lead = "" if language_of(best) == language else TRANSLATED[language]
        return lead + best


def _best_answer(asked: Asked, texts: Sequence[str]) -> str | None:
    wanted = terms(asked.question)
    if len(wanted) < 2:
        wanted |= terms(asked.beside)
    ignored = OWN_SENTENCES.union(sentences(asked.beside))
    if not wanted:
        return None
    probes = [probe(term) for term in wanted]
    total = 0
    groups: list[list[Found]] = []
    for text in texts:
        lowered = text.lower()
        if not any(p in lowered for p in probes):
            total += len(text) // 60
            continue
        said = sentences(text)
        total += len(said)
        groups.append([_found(s, wanted, probes) for s in said if s not in ignored])
    weights = _weights(wanted, groups, total)
    asks_value = bool(_ASKS_VALUE.search(asked.question))
    best_score, best = 0.0, None
    for group in groups:
        for text, score in _scored(group, weights, asks_value):
            # On a tie the later one: what was said last holds.
            if score >= best_score:
                best_score, best = score, text
    return best if best_score >= ENOUGH else None


def _found(sentence: str, wanted: set[str], probes: Sequence[str]) -> Found:
    lowered = sentence.lower()
    hit = any(p in lowered for p in probes) and not asks(sentence)
    return Found(sentence, frozenset(wanted & terms(sentence)) if hit else frozenset())


def _weights(wanted: set[str], groups: Sequence[Sequence[Found]], total: int) -> dict[str, float]:
    """Share of each term in the question's weight; a term that occurs nowhere counts like one seen once.

    A pair of Chinese characters that occurs nowhere counts half: it often spans two words.
    """
    idf = {}
    for term in wanted:
        frequency = sum(term in found.terms for group in groups for found in group)
        rarity = math.log(1 + max(total, frequency, 1) / max(1, frequency))
        idf[term] = rarity / 2 if not frequency and CJK.match(term) else rarity
    mass = sum(idf.values())
    return {term: weight / mass for term, weight in idf.items()}


def _scored(
    group: Sequence[Found], weights: Mapping[str, float], asks_value: bool
) -> list[tuple[str, float]]:
    scored = []
    for i, found in enumerate(group):
        if not found.terms:
            continue
        scored.append((found.text, _score(found.text, found.terms, weights, asks_value)))
        follower = group[i + 1] if i + 1 < len(group) else None
        if follower is not None and not asks(follower.text):
            both = f"{found.text} {follower.text}"
            scored.append((both, PAIR * _score(both, found.terms | follower.terms, weights, asks_value)))
    return scored


def _score(text: str, found: frozenset[str], weights: Mapping[str, float], asks_value: bool) -> float:
    covered = sum(weights[term] for term in found)
    return covered + (VALUE if asks_value and _VALUE.search(text) else 0.0)
