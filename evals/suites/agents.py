"""Transcripts of agents: which earlier message a tool call's argument comes from.

Evidence without labels: a string of a call's arguments that the newest messages do not hold, but older
ones do. It is found when it stands anywhere in the prompt.
"""

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from evals.case import Case, Piece, Question

FILES = {
    "mini-swe-agent": "mini_swe_agent/transcripts.jsonl.gz",
    "tau-bench": "tau_bench/airline_longest20.jsonl",
}
ONE, SEVERAL = "one source", "several sources"
NEWEST_CHARS = 8000
"""About 2,000 tokens: what any window of recent messages holds is no evidence."""
ESCAPED = re.compile(r'\\[nt"]')
CANDIDATE = re.compile(r"[A-Za-z0-9_./\-#@]{6,}")
LEAST = 6
IDENTIFIER = re.compile(r"[_/.#@]|[a-z][A-Z]|^\d{4,}$|^(?=.*\d)(?=.*[A-Za-z])")
"""Paths, dotted, underscored and camel-cased names, long numbers, letters with digits."""


def load(
    root: Path, which: str, kinds: Sequence[str] = (ONE, SEVERAL), longer_than: int = 0
) -> Iterator[Case]:
    """`kinds`: of the questions, by how many messages hold the string. `longer_than`: characters of the
    history in front of a question, without what the head says."""
    file = root / FILES[which]
    read = gzip.open if file.suffix == ".gz" else open
    with read(file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            messages = json.loads(line)["messages"]
            pieces = [_piece(n, message) for n, message in enumerate(messages)]
            name = f"{which}-{number}"
            lengths = list(accumulate(len(p.text) * (p.role != "system") for p in pieces))
            questions = [
                question
                for question in _questions(name, messages, [piece.text for piece in pieces])
                if question.kind in kinds and lengths[(question.after or 0) - 1] > longer_than
            ]
            yield Case(name, pieces, questions)


def _piece(number: int, message: dict[str, Any]) -> Piece:
    arguments = [call["function"]["arguments"] for call in message.get("tool_calls") or ()]
    return Piece(str(number), " ".join([message.get("content") or "", *arguments]), message["role"], message)


def _questions(name: str, messages: Sequence[dict[str, Any]], texts: Sequence[str]) -> Iterator[Question]:
    """One for each string of each step, asked in front of the assistant's message that uses it."""
    first = next(n for n, message in enumerate(messages) if message["role"] != "system")
    for step, message in enumerate(messages):
        recent = _recent(texts, first, step)
        for string in sorted(strings(message)) if recent > first else ():
            if any(string in text for text in texts[recent:step]):
                continue
            sources = sum(string in text for text in texts[first:recent])
            # What the head says stands in every prompt.
            if sources and not any(string in text for text in texts[:first]):
                kind = ONE if sources == 1 else SEVERAL
                yield Question(f"{name}-{step}-{string}", None, frozenset({string}), kind, step)


def _recent(texts: Sequence[str], first: int, step: int) -> int:
    """Where the newest messages begin, whole ones of `NEWEST_CHARS` together."""
    left, start = NEWEST_CHARS, step
    while start > first and len(texts[start - 1]) <= left:
        start -= 1
        left -= len(texts[start])
    return start


def strings(message: dict[str, Any]) -> set[str]:
    """Identifiers among the values of the calls' arguments; names of parameters come from the schema."""
    found: set[str] = set()
    for call in message.get("tool_calls") or ():
        values = ESCAPED.sub(" ", " ".join(_values(call["function"]["arguments"])))
        found |= {s.strip("./-") for s in CANDIDATE.findall(values)}
    return {s for s in found if len(s) >= LEAST and IDENTIFIER.search(s)}


def _values(arguments: str) -> Iterator[str]:
    try:
        yield from _leaves(json.loads(arguments))
    except ValueError:
        yield arguments


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield str(value)
