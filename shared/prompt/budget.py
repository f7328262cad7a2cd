"""The budget of a prompt, line by line.

The reference's formula is window - slack - reserve - head - recent - memory_min = memory. Its amounts
are caps here: each is the smaller of the reference's value and a share of what is usable, so that any
window from 2,048 up works, and so that room to grow is left. That room is what pays: without it the
window evicts on up to 45% of requests, and each eviction is a cold prefix.
"""

from dataclasses import asdict, dataclass, fields

import numpy as np

QUERY_TOKENS = 256
"""However small the window: a query takes nothing of the prompt, and embedding models read 512 (ADR 0007)."""


@dataclass(frozen=True)
class Limits:
    """The settings of the same names; their defaults are there."""

    ctx_slack: int
    gen_reserve_default: int
    gen_reserve_max: int
    recent_window_tokens: int
    memory_min_tokens: int
    memory_max_tokens: int
    patch_max_tokens: int
    query_max_tokens: int


def limits_of(settings: object) -> Limits:
    """Picks the limits out of the settings by name."""
    return Limits(**{field.name: getattr(settings, field.name) for field in fields(Limits)})


@dataclass(frozen=True)
class Budget:
    """Engine tokens. `usable` is what the history, its block and its patches may cost together."""

    window: int
    slack: int
    reserve: int
    head: int
    usable: int
    recent: int
    memory: int
    memory_min: int
    patch: int
    query: int
    task: int
    """What a pinned task is cut to."""

    def lines(self) -> dict[str, int]:
        return asdict(self)


def output_reserve(window: int, max_tokens: int | None, limits: Limits) -> int:
    wanted = max_tokens or min(limits.gen_reserve_default, window // 32)
    return min(wanted, limits.gen_reserve_max, window // 8)


def plan_budget(
    window: int,
    max_tokens: int | None,
    head_tokens: int,
    limits: Limits,
    *,
    works_with_tools: bool = False,
) -> Budget:
    """`usable` is negative where the head alone does not fit.

    Where tools are at work more of what was last stays, and less is recalled: the next step mostly needs
    what the last ones saw (ADR 0015).
    """
    reserve = output_reserve(window, max_tokens, limits)
    usable = window - limits.ctx_slack - reserve - head_tokens
    share = max(usable, 0)
    return Budget(
        window=window,
        slack=limits.ctx_slack,
        reserve=reserve,
        head=head_tokens,
        usable=usable,
        recent=min(limits.recent_window_tokens, share // 2 if works_with_tools else share // 4),
        memory=min(limits.memory_max_tokens, share // 8 if works_with_tools else share // 4),
        memory_min=min(limits.memory_min_tokens, share // 64),
        patch=min(limits.patch_max_tokens, _patch_share(share)),
        query=min(limits.query_max_tokens, max(share // 128, QUERY_TOKENS)),
        task=share // 8,
    )


def _patch_share(usable: int) -> int:
    """1/8 up to 4K, falling to 1/16 at 8K and 1/32 from 32K on."""
    return int(usable * np.interp(usable, (4096, 8192, 32_768), (1 / 8, 1 / 16, 1 / 32)))
