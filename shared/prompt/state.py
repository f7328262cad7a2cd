"""The state under a tip: what a prompt held, kept for the request that continues it."""

from pydantic import BaseModel, ConfigDict

from shared.prompt.plan import Layout


class Tip(BaseModel):
    """Stored under the chain hash of a request's last message; written once or replaced whole."""

    model_config = ConfigDict(frozen=True)

    tenant: str = ""
    session: str = ""
    era: int = 0
    """Whose request left it, for erasure; who continues it may be another."""
    length: int
    """Addressed messages of the request."""
    layout: Layout
    tokens: int
    """The whole prompt: never below what the engine counts."""
    exact: bool
    """`tokens` comes from the engine, not from an estimate."""
    told: bool = False
    """`tokens` comes from the usage of the very prompt, which nothing is closer to."""
    head: str = ""
    """Digest of the head as it came; a head that changed is counted anew."""
    source: str = ""
    """Digest of the messages as they came, those without an address included: what was counted."""
    ratio: float
    """Engine tokens per token of the upper bound, as last seen in this conversation."""
    built_at: float
    published_to: int = 0
    index: str = ""
    """Identity of the store that the next two speak of."""
    indexed_to: int = 0
    covered_to: int = 0
    degraded: tuple[str, ...] = ()
    """A tip with degradations passes on its window and cuts; its block and patches are not fresh."""
