"""What of a prompt was said before: its texts without frames and labels, in sections.

The forms are those of `shared/prompt/render.py` and `shared/prompt/cut.py`, read here apart from the code
that writes them: what this does not know as a frame counts as text, and must be from the request.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backscroll.engine.template import HEAD_ROLES, message_text

_FRAME = re.compile(r"<excerpts>\n\[[^\n]*\]\n(.*?)</excerpts>\n{0,2}", re.DOTALL)
_LABEL = re.compile(
    r"^(?:--- turn \d+[^\n]*---\n)?\[(?:user|assistant|tool_result|tool_call|tool)\b[^\n\]]*\] "
    r"|^--- turn \d+[^\n]*---\n",
    re.MULTILINE,
)
_OMITTED = re.compile(r"\[\.\.\. \d+ characters omitted \.\.\.\]\n?")
_NOTES = ("[The message that began this turn is too long to be shown.]",)
_ESCAPED = (("<\\/excerpts>", "</excerpts>"), ("<\\excerpts>", "<excerpts>"))
GAP = "\0"
"""Between the texts of a request; no text holds it."""


@dataclass(frozen=True)
class Shown:
    """Texts of a prompt. Each of them, but the head's, is told to be a text of the request."""

    window: list[str]
    """What stands verbatim, oldest first."""
    frames: list[list[str]]
    """The excerpts of each block and patch, in the order of the prompt."""

    @property
    def texts(self) -> Iterator[str]:
        yield from self.window
        for frame in self.frames:
            yield from frame

    @property
    def joined(self) -> str:
        return "\n".join(self.texts)


def shown(messages: Sequence[Mapping[str, Any]]) -> Shown:
    window: list[str] = []
    frames: list[list[str]] = []
    for message in messages:
        if message.get("role") in HEAD_ROLES:
            continue
        text = message_text(message)
        frames += [list(_excerpts(body)) for body in _FRAME.findall(text)]
        window += _parts(_FRAME.sub(GAP, text))
        window += [_call_text(call) for call in message.get("tool_calls") or ()]
    return Shown(window, frames)


def request_texts(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """All that a request says, a text each, in order."""
    texts: list[str] = []
    for message in messages:
        texts.append(message_text(message))
        texts += [_call_text(call) for call in message.get("tool_calls") or ()]
    return texts


def _call_text(call: Mapping[str, Any]) -> str:
    """As it is quoted in an excerpt."""
    return f"{call['function']['name']}({call['function']['arguments']})"


def _excerpts(body: str) -> Iterator[str]:
    for quoted, plain in _ESCAPED:
        body = body.replace(quoted, plain)
    yield from (text for part in _LABEL.split(body) for text in _parts(part))


def _parts(text: str) -> list[str]:
    for note in _NOTES:
        text = text.replace(note, GAP)
    parts = (part.strip() for piece in text.split(GAP) for part in _OMITTED.split(piece))
    return [part for part in parts if part]
