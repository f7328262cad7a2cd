"""A whole prompt as it is counted: the raw fields and messages of a request's body."""

import hashlib
from dataclasses import dataclass

NOT_IN_PROMPT = frozenset(
    {"stream", "stream_options", "max_tokens", "max_completion_tokens", "user", "metadata"}
)
"""Fields that change from request to request and never change a prompt."""


@dataclass(frozen=True)
class Prompt:
    dialect: str
    """`NAME` of the dialect that the fields and messages are in."""
    model: str
    fields: dict[str, bytes]
    messages: list[bytes]
    tenant: str = ""
    """Whose counts answer for it; a probe is nobody's."""

    def digest(self) -> bytes:
        """Equal for prompts of a tenant that any engine counts the same."""
        named = f"{self.tenant}\0{self.dialect}\0{self.model}\0"
        whole = hashlib.blake2b(named.encode("utf-8", "replace"), digest_size=16)
        for name in sorted(self.fields.keys() - NOT_IN_PROMPT):
            whole.update(name.encode() + b"\0" + self.fields[name] + b"\0")
        for message in self.messages:
            whole.update(len(message).to_bytes(8, "little") + message)
        return whole.digest()


def probe(model: str, dialect: str = "chat") -> Prompt:
    """The shortest prompt that every chat template takes."""
    return Prompt(dialect, model, {}, [b'{"role":"user","content":"hello"}'])
