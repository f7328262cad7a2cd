"""The reference's formula over relevance, recency and role."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shared.conversation.history import RoleCode

Floats = npt.NDArray[np.float64]

ROLE_WEIGHTS = {RoleCode.USER: 1.0, RoleCode.ASSISTANT: 0.8, RoleCode.TOOL: 0.4}
"""Tool output is long and says little; what the user said is what it is about."""
SYSTEM_WEIGHT = 0.5


@dataclass(frozen=True)
class Weights:
    rerank: float
    fused: float
    """Of relevance as recall fused it."""
    recency: float
    role: float


def recency(unit_index: npt.NDArray[np.int64], units: int) -> Floats:
    """Decays with the distance from the end; the longer the conversation, the slower."""
    decayed: Floats = np.exp(-(units - unit_index) / max(32.0, units * 0.5))
    return decayed


def role_weight(roles: npt.NDArray[np.uint8]) -> Floats:
    table = np.full(256, SYSTEM_WEIGHT)
    for role, weight in ROLE_WEIGHTS.items():
        table[role] = weight
    return table[roles]


def score(weights: Weights, rerank: Floats, fused: Floats, recent: Floats, role: Floats) -> Floats:
    """`rerank` is the cross-encoder's score or what stands in its place: the fused ranks, or 0."""
    return weights.rerank * rerank + weights.fused * fused + weights.recency * recent + weights.role * role
