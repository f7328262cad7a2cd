"""What is forwarded to the engine, and everything that the record tells about it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from services.gateway.prepare.measure import Measured
from services.gateway.prepare.prefix import PrefixAccount
from services.gateway.prepare.templates import LENIENT, Template
from shared.contracts.rpc import Assemble
from shared.errors import ContextLengthExceeded
from shared.prompt.budget import Limits
from shared.prompt.plan import Layout, Plan
from shared.prompt.state import Tip
from shared.prompt.toolresult import ToolPolicies
from shared.telemetry import DEGRADATIONS
from shared.tokens.estimate import Coefficients


@dataclass(frozen=True)
class Policy:
    """The settings of the same names."""

    limits: Limits
    coefficients: Coefficients
    max_context: int
    publish_from: float
    embed_wait_s: float
    assemble_timeout_s: float
    clamp_margin_tokens: int
    clamp_margin_div: int
    template: Template = LENIENT
    """Of the engine."""
    tools: ToolPolicies = field(default_factory=dict)


@dataclass
class Prepared:
    mode: Literal["passthrough", "assembled"]
    window: int
    limit: int
    """What the prompt may cost: the window less slack and output reserve."""
    measured: Measured
    body: bytes = b""
    layout: Layout = field(default_factory=Layout)
    plan: Plan | None = None
    asked: Assemble | None = None
    """What the plan was asked with, last."""
    places: list[int | None] = field(default_factory=list)
    """The position of each message of the prompt (`places` in services/gateway/prepare/draft.py)."""
    parent: Tip | None = None
    carried: int | None = None
    """Tokens of the parent's prompt, while they can be relied on (`Assemble.carried`)."""
    tip: Tip | None = None
    prefix: PrefixAccount | None = None
    """None where the history surely fitted: no tip was looked for."""
    last_resort: bool = False
    """The engine refused what we thought would fit: the smallest form is sent, whatever we count."""
    shrunk: list[str] = field(default_factory=list)
    rejected: int = 0
    era: int = 0
    """Of the session, when the request came (shared/bus/erased.py)."""
    published_to: int = 0
    just_published: frozenset[int] = frozenset()
    """Positions that this request published itself."""
    degraded: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    """Seconds by stage."""

    def degrade(self, part: str) -> None:
        if part not in self.degraded:
            self.degraded.append(part)
            DEGRADATIONS.labels(part=part).inc()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - start


def too_long(done: Prepared, tokens: int) -> ContextLengthExceeded:
    return ContextLengthExceeded(
        f"This model's maximum context length is {done.window} tokens. The system prompt, the tools "
        f"and the last message alone need about {tokens} tokens, and "
        f"{done.window - done.limit} are kept for the answer. Please shorten them."
    )
