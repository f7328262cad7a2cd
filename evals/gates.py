"""What must hold of every prompt: a run that breaks one of these fails.

`determinism` is judged apart, on questions that are asked again of fresh services.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from evals.capture import Prompt
from evals.judged import Judged, Repeated
from evals.shown import GAP, Shown, request_texts
from evals.turns.turn import Embedded, Turn

BUDGET = "within the budget"
ORDER = "order kept"
PAIRS = "tool pairs"
FOREIGN = "nothing foreign"
DETERMINISM = "determinism"
GATES = (BUDGET, ORDER, PAIRS, DETERMINISM, FOREIGN)
NAMED = 80
"""Characters of a text that a fault names."""


class Said:
    """A history, to look texts up in it. The questions of one case share it."""

    def __init__(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self._ends = [0]
        parts: list[str] = []
        for message in messages:
            parts += [text.replace(GAP, " ") + GAP for text in request_texts([message])]
            self._ends.append(self._ends[-1] + sum(map(len, parts[len(parts) - _texts(message) :])))
        self._all = "".join(parts)
        self._first: dict[str, int] = {}

    def end(self, messages: int | None) -> int:
        """Where the first so many messages end; None: all."""
        return self._ends[-1 if messages is None else messages]

    def find(self, text: str, start: int, end: int) -> int:
        """Where the text stands first in [start, end); -1: nowhere."""
        first = self._first.get(text)
        if first is None:
            first = self._first[text] = self._all.find(text)
        if first >= start and first + len(text) <= end:
            return first
        return -1 if first < 0 else self._all.find(text, start, end)


def _texts(message: Mapping[str, Any]) -> int:
    return 1 + len(message.get("tool_calls") or ())


def faults(prompt: Prompt, told: Shown, said: Said, end: int, allowed: int) -> tuple[str, ...]:
    """Every gate that a prompt fails.

    `told`: what it says, the question left out. `end`: where the history ends that it was asked on.
    `allowed`: tokens, tools and system messages included.
    """
    found = [f"{PAIRS}: {problem}" for problem in prompt.invalid]
    if prompt.tokens > allowed:
        found.append(f"{BUDGET}: {prompt.tokens} tokens, {allowed} are allowed")
    for section in (told.window, *told.frames):
        found += _section(section, said, end)
    return tuple(found)


def _section(texts: Sequence[str], said: Said, end: int) -> list[str]:
    """Texts of the window, or of one frame, must follow each other as they did in the history."""
    found: list[str] = []
    at = 0
    for text in texts:
        place = said.find(text, at, end)
        if place >= 0:
            at = place
        elif said.find(text, 0, end) >= 0:
            found.append(f"{ORDER}: {text[:NAMED]!r} was said before what precedes it")
        else:
            found.append(f"{FOREIGN}: {text[:NAMED]!r} is not from the request")
    return found


def gate_of(fault: str) -> str:
    return fault.split(": ", 1)[0]


def faults_of(row: Judged | Repeated | Turn | Embedded) -> list[str]:
    """What a row of results tells of gates that were failed."""
    if isinstance(row, Judged):
        return [f"{row.question} at {row.budget}: {fault}" for fault in row.faults]
    if isinstance(row, Turn):
        return [f"{row.case}, {row.length} messages: {fault}" for fault in row.faults]
    if isinstance(row, Repeated) and row.differed:
        return [f"{row.case} at {row.budget}: {DETERMINISM}: {row.differed} of {row.asked} differ"]
    return []
