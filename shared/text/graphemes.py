"""Grapheme clusters: what a reader sees as one character (flags, joined emoji, jamo, CRLF)."""

import re

import regex

_CLUSTER = regex.compile(r"\X", regex.DOTALL)
_FLAG = regex.compile(r"\p{RI}{1,2}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*")
# Between two of these lies always a boundary, whatever stands around them.
_SINGLE = "\\n\\t\\x20-\\x7e\u3001-\u3029\u4e00-\u9fff\uff01-\uff5e"
_SINGLES = re.compile(f"[{_SINGLE}]*")
_LAST_SURE = regex.compile(rf"(?r)[{_SINGLE}]{{2}}|\n")


def is_boundary(text: str, at: int) -> bool:
    """Whether no cluster spans `at`, where the character before is a space, a line end or punctuation.

    Such a character can only be joined by marks that follow it.
    """
    return at in (0, len(text)) or _cluster_end(text, at - 1) == at


def boundary_at_most(text: str, start: int, limit: int) -> int:
    """The last boundary in (start, limit]; past the limit only where the first cluster is that long.

    `start` must be a boundary. Takes time in the order of `limit - start`.
    """
    if limit >= len(text):
        return len(text)
    singles = _SINGLES.match(text, start, limit + 1)
    plain = singles.end() if singles else start
    if plain > limit:
        return limit
    at = max(start, plain - 1)
    while (end := _cluster_end(text, at)) <= limit:
        at = end
    return at if at > start else end


def boundary_at_least(text: str, at: int) -> int:
    """The first boundary from `at` on, wherever `at` falls."""
    if at <= 0 or at >= len(text):
        return max(0, min(at, len(text)))
    sure = _LAST_SURE.search(text, 0, at)
    boundary = 0 if sure is None else sure.end() - (sure[0] != "\n")
    while boundary < at:
        boundary = _cluster_end(text, boundary)
    return boundary


def _cluster_end(text: str, start: int) -> int:
    # `\X` counts a flag's letters back to the first of their run at each of them: 250 s for 300,000.
    flag = _FLAG.match(text, start)
    end: int = (flag or _CLUSTER.match(text, start)).end()
    return end
