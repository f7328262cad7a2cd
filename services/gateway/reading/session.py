"""What a client calls the conversation that a request belongs to.

A label groups events, records and chunks for people, replay and erasure. It decides nothing else: titles
and sub-agents run under the id of the chat they belong to, ids collide, and forks keep theirs (ADR 0001).
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

import orjson

FIELDS = frozenset({"metadata", "prompt_cache_key"})
"""Fields of a body that can name a session."""
HEADERS = (
    "x-openwebui-chat-id",
    # LibreChat sends what its administrator configures; this is the name that its documentation uses.
    "x-conversation-id",
    "x-claude-code-session-id",
    # Codex; with underscores in its earlier releases.
    "session-id",
    "thread-id",
    "session_id",
    "conversation_id",
    # Cline.
    "x-task-id",
    # opencode, and the one for whoever writes a client.
    "x-session-id",
    "x-session-affinity",
    # A proxy's own come after those of the client behind it; a trace can be as short as one request.
    "x-litellm-session-id",
    "x-litellm-trace-id",
)
"""Most specific first."""
CLAUDE_CODE = re.compile(r"_session_([0-9A-Za-z-]+)$")
PLAIN = re.compile(r"[!-~]{1,128}")
"""What can stand in a header of the answer as it is."""


def label_of(headers: Mapping[str, str], values: Mapping[str, object]) -> str | None:
    """The most specific name that the request gives; None where it gives none.

    `headers` has lower-case names or ignores case; `values` are the parsed `FIELDS` of the body. A name
    that no header can carry comes back as its digest.
    """
    return next((named(name) for name in _names(headers, values) if name.strip()), None)


def named(name: str) -> str:
    """The label of the session that a client names so."""
    text = name.strip()
    if PLAIN.fullmatch(text):
        return text
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _names(headers: Mapping[str, str], values: Mapping[str, object]) -> Iterator[str]:
    for header in HEADERS:
        yield _as_utf8(headers.get(header, ""))
    metadata = values.get("metadata")
    if isinstance(metadata, dict):
        yield _of_user_id(metadata.get("user_id"))
        yield _text(metadata.get("session_id"))
    yield _of_baggage(headers.get("baggage", ""))
    # A hint: clients use one key for all that shares a beginning.
    yield _text(values.get("prompt_cache_key"))


def _as_utf8(header: str) -> str:
    """HTTP reads headers as Latin-1, clients write names in UTF-8; by those a session is erased, too."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header


def _of_user_id(value: object) -> str:
    """Claude Code: a JSON object with `session_id`, or `user_..._session_<id>`; else it names a person."""
    text = _text(value)
    if text.startswith("{"):
        try:
            told = orjson.loads(text)
        except orjson.JSONDecodeError:
            return ""
        return _text(told.get("session_id"))
    found = CLAUDE_CODE.search(text)
    return found[1] if found else ""


def _of_baggage(header: str) -> str:
    """W3C baggage: `key=value;properties, ...`, values percent-encoded."""
    for member in header.split(","):
        name, _, value = member.partition(";")[0].partition("=")
        if name.strip() == "session.id":
            return unquote(value.strip())
    return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
