"""What a model server means when it does not answer 200.

Wordings from text-embeddings-inference (413 and 422), llama.cpp (500), vLLM, SGLang, infinity, Ollama and the
OpenAI and DashScope services (400). Only the message field is read: servers echo inputs elsewhere.
"""

import re
from enum import Enum
from typing import Any, NamedTuple

import orjson

MESSAGE_CHARS = 300


class Cause(Enum):
    TOO_LARGE = "an input is too large"
    BATCH_TOO_BIG = "too many inputs in one request"
    REFUSED = "the input is refused"
    BROKEN = "the server failed, perhaps on this input"
    PASSING = "the server is down, busy or set up wrongly"


class Refusal(NamedTuple):
    cause: Cause
    limit: int | None = None
    """Inputs a request, where the server names it."""


_BATCH_TOO_BIG = re.compile(
    r"(?:batch size|array too long|list should have at most|too many (?:inputs|documents|texts))",
    re.IGNORECASE,
)
_BATCH_LIMIT = re.compile(
    r"(?:maximum allowed batch size|maximum length|larger than|at most|maximum(?: is| of)?|limit(?: is| of)?)"
    r"\D{0,3}(\d+)",
    re.IGNORECASE,
)
_TOO_LARGE = re.compile(
    r"physical batch size|too large to process|must have less than|length limit exceeded|payload too large"
    r"|context (?:size|length)|maximum (?:model|sequence|allowed|input) length|longer than the max"
    r"|max(?:imum)?[ _]tokens|max(?:imum)? \d+ tokens"
    r"|(?:input|prompt|text|string|document)s?\b[^.:]{0,40}\btoo (?:long|large)",
    re.IGNORECASE,
)
_ABOUT_THE_INPUT = {400, 413, 422}


def judge(status: int, message: str) -> Refusal:
    """A wrong key, path or model (401, 403, 404, ...) is not the text's fault: an import must not be
    dead-lettered because of it, so it counts as a server that is not there."""
    if status == 429 or status < 400:
        return Refusal(Cause.PASSING)
    if status in {*_ABOUT_THE_INPUT, 500} and _TOO_LARGE.search(message):
        return Refusal(Cause.TOO_LARGE)
    if status in _ABOUT_THE_INPUT and _BATCH_TOO_BIG.search(message):
        named = _BATCH_LIMIT.search(message)
        return Refusal(Cause.BATCH_TOO_BIG, int(named.group(1)) if named else None)
    if status == 413:
        return Refusal(Cause.TOO_LARGE)
    if status == 500:
        return Refusal(Cause.BROKEN)
    return Refusal(Cause.REFUSED if status in _ABOUT_THE_INPUT else Cause.PASSING)


def message_of(body: bytes) -> str:
    """The human-readable part of an error body, at most `MESSAGE_CHARS` characters."""
    try:
        found = _message(orjson.loads(body))
    except orjson.JSONDecodeError:
        found = body.decode("utf-8", "replace")
    return " ".join(found.split())[:MESSAGE_CHARS]


def _message(body: Any) -> str:
    match body:
        case str():
            return body
        case {"error": inner} | {"message": inner} | {"detail": inner} | {"msg": inner}:
            return _message(inner)
        case [first, *_]:
            return _message(first)
    return ""
