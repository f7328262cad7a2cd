"""Where a text may be cut: after a line, a sentence, a word, a grapheme cluster, in this order.

A part that starts in the middle of a line (`retry=2` cut off from its `line 27`) misleads whoever reads
it, so lines go before everything else.
"""

import re
from collections.abc import Iterator

from shared.text.graphemes import boundary_at_least, boundary_at_most, is_boundary

_LINE_END = re.compile(r"\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")
_CLOSING = r"[\"'”’」』）】》〉\])*_]*+"
_SENTENCE_END = re.compile(
    rf"""
    (?: [。！？；｡]++ | …++ | (?P<latin>(?<![.!?])[.!?]++) (?={_CLOSING}(?:\s|\Z)) )
    {_CLOSING} [^\S\r\n]*+ (?:\r?\n (?:[^\S\r\n]*\r?\n)*+ )?
    | \r?\n (?:[^\S\r\n]*\r?\n)*+
    """,
    re.VERBOSE,
)
_NO_SENTENCE_END = re.compile(
    r"(?:(?<![^\W_])(?:e\.g|i\.e|a\.k\.a|vs|cf|approx|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|Nos?|Fig|Eq|Vol"
    r"|pp|[A-Z])|(?:^|\n)[ \t]*\(?\d{1,3})\Z"
)
_LONGEST_ABBREVIATION = 12
_WORD_END = re.compile(r"\s+|[，、：]+")


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Offsets in (start, end] after a sentence or a line, its trailing blanks included, ascending."""
    for found in _SENTENCE_END.finditer(text, start, min(len(text), end + 1)):
        at = found.end()
        if at <= end and not _goes_on(text, found) and is_boundary(text, at):
            yield at


def _goes_on(text: str, found: re.Match[str]) -> bool:
    """Whether `.`, `!`, `?` stand after an abbreviation or list number, or before a small letter."""
    if found["latin"] is None or "\n" in found[0]:
        return False
    following = text[found.end() : found.end() + 1]
    if following.islower():
        return True
    before = text[max(0, found.start() - _LONGEST_ABBREVIATION) : found.start()]
    return found["latin"] == "." and _NO_SENTENCE_END.search(before) is not None


def last_cut(text: str, start: int, limit: int) -> int:
    """The best place to cut in (start, limit]: past the limit only where one cluster is longer.

    `start` must be a cluster boundary. Takes time in the order of `limit - start`.
    """
    if limit >= len(text):
        return len(text)
    room = limit - start
    paragraph, line = _last_line_ends(text, start, limit)
    if paragraph > limit - room // 3:
        return paragraph
    early = start + room // 4
    if line > early or (line > start and _line_fits(text, line, room)):
        return line
    sentence = max(sentence_ends(text, start, limit), default=start)
    word = max(_word_ends(text, start, limit), default=start)
    for natural in (sentence, word):
        if natural > early:
            return natural
    return (
        max(line, sentence, word)
        if max(line, sentence, word) > start
        else boundary_at_most(text, start, limit)
    )


def first_cut(text: str, at: int, latest: int) -> int:
    """The best place to start in [at, latest]; behind it only where a cluster is longer."""
    if at <= 0 or at >= len(text):
        return max(0, min(at, len(text)))
    for found in _LINE_END.finditer(text, at - 1, latest):
        if at <= found.end() and is_boundary(text, found.end()):
            return found.end()
    for natural in (sentence_ends(text, at - 1, latest), _word_ends(text, at - 1, latest)):
        if (first := next((end for end in natural if end >= at), None)) is not None:
            return first
    return boundary_at_least(text, at)


def _last_line_ends(text: str, start: int, limit: int) -> tuple[int, int]:
    """The last ends of a paragraph (a blank line) and of a line in (start, limit], else `start`."""
    paragraph = line = start
    for found in _LINE_END.finditer(text, start, limit + 1):
        if found.end() <= limit:
            if not text[line : found.start()].strip():
                paragraph = found.end()
            line = found.end()
    return paragraph, line


def _line_fits(text: str, start: int, room: int) -> bool:
    return start + room >= len(text) or _LINE_END.search(text, start, start + room) is not None


def _word_ends(text: str, start: int, limit: int) -> Iterator[int]:
    for found in _WORD_END.finditer(text, start, limit):
        if is_boundary(text, found.end()):
            yield found.end()
