"""A dialect is one small module: read the body into the conversation, write it back, shape an error."""

from services.gateway.dialects import anthropic, chat, responses
from services.gateway.dialects.base import Dialect

DIALECTS: tuple[Dialect, ...] = (chat, anthropic, responses)


def dialect_of(path: str) -> Dialect:
    """The dialect that a client speaks on a path; OpenAI's on all that are not a conversation."""
    inside = path.removeprefix("/v1/")
    return next((d for d in DIALECTS if inside.startswith(d.PATH)), chat)
