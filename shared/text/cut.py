"""Keeping the start, the end or the telling middle of a text that is too long."""

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Set

from shared.text.boundaries import first_cut, last_cut, sentence_ends
from shared.text.opaque import opaque_runs
from shared.text.split import split
from shared.text.words import tokens

REPEAT = 0.25
"""What each further occurrence of a query's token adds to a sentence window, against 1 for the first."""
COUNTED_REPEATS = 3


def tail_from(text: str, max_chars: int) -> int:
    """Where a kept tail of at most `max_chars` starts.

    At a line where one starts in the first half of what may stay, else at a sentence, a word, a grapheme
    cluster. Never inside an opaque run: a text that ends in one may have an empty tail.
    """
    at = len(text) - max_chars
    if at <= 0:
        return 0
    latest = at + max_chars // 2
    for start, end in opaque_runs(text):
        if start < at < end:
            return end
        if start >= at:
            latest = min(latest, start)
            break
    return min(first_cut(text, at, latest), len(text))


def head_to(text: str, max_chars: int) -> int:
    """Where a kept head of at most `max_chars` ends, by the same order of boundaries; 0 keeps nothing."""
    if len(text) <= max_chars:
        return len(text)
    after = 0
    for start, end in opaque_runs(text):
        if start >= max_chars:
            break
        if end > max_chars:
            return start
        after = end
    if after >= max_chars:
        return after
    cut = last_cut(text, after, max_chars)
    return cut if cut <= max_chars else after


def sentences(text: str) -> list[tuple[int, int]]:
    """Ranges of sentences and lines; together they are the text. Opaque runs lie whole in one of them."""
    runs = opaque_runs(text)
    starts = [start for start, _ in runs]
    found: list[tuple[int, int]] = []
    at = 0
    for end in sentence_ends(text, 0, len(text)):
        run = bisect_right(starts, end - 1) - 1
        if run < 0 or end >= runs[run][1]:
            found.append((at, end))
            at = end
    if at < len(text):
        found.append((at, len(text)))
    return found


def sentence_window(text: str, query_tokens: Set[str], max_chars: int) -> tuple[int, int]:
    """The range of adjacent whole sentences, at most `max_chars`, that says most about the query.

    A sentence above `max_chars` counts as several. Where no token occurs, the range is the text's head.
    (0, 0) where nothing fits.
    """
    if len(text) <= max_chars:
        return 0, len(text)
    pieces = [p for start, end in sentences(text) for p in _at_most(text, start, end, max_chars)]
    hits = [Counter(t for t in tokens(text[start:end]) if t in query_tokens) for start, end in pieces]
    core = _densest(pieces, hits, max_chars)
    return _grown(pieces, core, max_chars)


def _at_most(text: str, start: int, end: int, max_chars: int) -> list[tuple[int, int]]:
    if end - start <= max_chars:
        return [(start, end)]
    parts = [(start + a, start + b) for a, b in split(text[start:end], max_chars)]
    return [(a, b) for a, b in parts if b - a <= max_chars]


def _densest(pieces: list[tuple[int, int]], hits: list[Counter[str]], max_chars: int) -> tuple[int, int]:
    """First and last piece of the shortest best range; adjacency is by offsets, so gaps end a range."""
    best, best_score, best_chars = (0, 0), 0.0, max_chars + 1
    inside: deque[int] = deque()
    counts: Counter[str] = Counter()
    for last, (_, end) in enumerate(pieces):
        if inside and pieces[inside[-1]][1] != pieces[last][0]:
            inside.clear()
            counts.clear()
        inside.append(last)
        counts.update(hits[last])
        while end - pieces[inside[0]][0] > max_chars or not (hits[inside[0]] or inside[0] == last):
            counts.subtract(hits[inside.popleft()])
        score = sum(_worth(n) for n in counts.values())
        chars = end - pieces[inside[0]][0]
        if (score, -chars) > (best_score, -best_chars) and hits[last]:
            best, best_score, best_chars = (inside[0], last), score, chars
    return best


def _worth(occurrences: int) -> float:
    return 1 + REPEAT * min(occurrences - 1, COUNTED_REPEATS) if occurrences > 0 else 0.0


def _grown(pieces: list[tuple[int, int]], core: tuple[int, int], max_chars: int) -> tuple[int, int]:
    """The core with the sentences around it, by turns after and before, as long as they fit."""
    if not pieces:
        return 0, 0
    first, last = core
    grown = True
    while grown:
        grown = False
        start, end = pieces[first][0], pieces[last][1]
        if last + 1 < len(pieces) and pieces[last + 1][0] == end and pieces[last + 1][1] - start <= max_chars:
            last, grown = last + 1, True
            end = pieces[last][1]
        if first > 0 and pieces[first - 1][1] == start and end - pieces[first - 1][0] <= max_chars:
            first, grown = first - 1, True
    return pieces[first][0], pieces[last][1]
