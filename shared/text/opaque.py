"""Runs of encoded bytes inside a text: nothing in them can be read, searched or cut."""

import re

import regex

BARE_RUN = 512
"""Characters from which on a run of base64 letters is no word, path or key."""

_DATA_URI = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w=.+-]+)*;base64,(?:[A-Za-z0-9+/=_-]|%[0-9A-Fa-f]{2})*")
# One line, or lines of one width as PEM and MIME wrap them.
_BARE = re.compile(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{60,}(?:\r?\n[A-Za-z0-9+/_-]{60,})*"
    r"(?:\r?\n(?:[A-Za-z0-9+/_-]{20,}|[A-Za-z0-9+/_-]+=)={0,2}(?=\r?\n|\Z))?={0,2}"
)
_EXTENDS = regex.compile(r"[\p{Grapheme_Cluster_Break=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*")
_PREPENDS = regex.compile(r"\p{GCB=Prepend}")


def opaque_runs(text: str) -> list[tuple[int, int]]:
    """Ranges of data URIs and of bare base64 of `BARE_RUN` characters or more; ascending, disjoint."""
    runs = [found.span() for found in _DATA_URI.finditer(text)] if ";base64," in text else []
    if len(text) >= BARE_RUN:
        runs += [found.span() for found in _BARE.finditer(text) if _is_encoded(found)]
    return _merged(text, sorted(runs))


def without_opaque(text: str) -> str:
    """The text with a space for each opaque run."""
    if ";base64," not in text and len(text) < BARE_RUN:
        return text
    pieces, at = [], 0
    for start, end in opaque_runs(text):
        pieces.append(text[at:start])
        at = end
    return " ".join([*pieces, text[at:]])


def _is_encoded(found: re.Match[str]) -> bool:
    """Long enough, and with the mixture of letters and digits that hexadecimal, DNA or `xxxx` lack."""
    if found.end() - found.start() < BARE_RUN:
        return False
    sample = found.string[found.start() : found.start() + BARE_RUN]
    return any(map(str.isdigit, sample)) and any(map(str.isupper, sample)) and any(map(str.islower, sample))


def _merged(text: str, runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in runs:
        # A mark after the run, or a prefix before it, would make one grapheme cluster with it.
        end = _EXTENDS.match(text, end).end()
        while start > 0 and _PREPENDS.match(text, start - 1):
            start -= 1
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
