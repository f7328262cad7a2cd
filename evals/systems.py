"""What is compared: Backscroll under several settings, and the baselines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from evals.baselines.ranker import Method
from evals.turns.systems import SYSTEMS as PLAYED

BASELINES: tuple[Method, ...] = get_args(Method)
NEED_VECTORS = ("dense", "rrf")


@dataclass(frozen=True)
class System:
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the product."""
    baseline: Method | None = None

    @property
    def needs_vectors(self) -> bool:
        return self.baseline in NEED_VECTORS


SEED = {"profile": "seed", "drift_mode": "rebuild"}
PRODUCT = {
    "backscroll": System("backscroll"),
    # The reference's own policy: candidates from vectors alone, no fill, one hop, a rebuild at a drift. The
    # fused order stands in for its cross-encoder, which is the kinder of its two ways without one.
    "seed": System("seed", SEED),
    "seed-zero": System("seed-zero", SEED | {"rerank_fallback": "zero"}),
}
SYSTEMS: dict[str, System] = PRODUCT | {name: System(name, baseline=name) for name in BASELINES}
TURN_SYSTEMS: dict[str, System] = {name: System(name, played.settings) for name, played in PLAYED.items()}
"""Of the suites that are played turn by turn."""
BY_DEFAULT: dict[str, tuple[str, ...]] = {
    "questions": ("backscroll", "seed", "window", "bm25", "dense", "rrf"),
    "turns": ("backscroll", "seed", "hysteresis", "reinject", "window"),
    # Counts embeddings, in which the systems are alike.
    "replay": ("backscroll",),
}
"""By the mode of a suite, where none is named."""


MECHANISMS: dict[str, Mapping[str, Any]] = {
    "what led up to the question": {"context_share": 0.0},
    "vectors": {"dense_weight": 0.0},
    "smoothing": {"smooth": False},
    "smoothing of vectors": {"dense_smooth": 0.0},
    "the second hop": {"hop_share": 0.0},
    "worth per token": {"token_exponent": 0.0},
    "the stop at weak candidates": {"stop": 0.0},
    "more than 200 candidates": {"candidates": 200},
    "leaving out near duplicates": {"near_duplicate": None},
    "the speaker whom a question names": {"speaker_bonus": 0.0},
    "long texts whole": {"whole_units": False},
    "new identifiers first": {"identifier_bonus": 0.0},
    "recency": {"recency_bonus": 0.0},
    "roles": {"role_power": 0.0},
}
"""What sets each mechanism of a profile to nothing."""


def ablations() -> list[System]:
    """Backscroll, and Backscroll without each mechanism of its profiles, one at a time."""
    return [
        PRODUCT["backscroll"],
        *(System(f"without {name}", {"profile_overrides": off}) for name, off in MECHANISMS.items()),
    ]
