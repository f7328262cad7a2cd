"""The scoring profiles: every choice that differs between kinds of conversation, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from services.retriever.score import Weights
from shared.conversation.history import History
from shared.errors import PermanentFault
from shared.settings import Settings

TIE = 1e-6
"""Recency at .30 costs .15 to .25 of all evidence found; as a tie break it costs nothing."""


@dataclass(frozen=True)
class Profile:
    name: Literal["seed", "conversation", "agent", "documents"]
    context_share: float | None
    """What the messages before the question weigh together at most, of what it weighs; None: no limit."""
    dense_only: bool
    """Candidates come from vectors alone, as long as there are vectors."""
    candidates: int | None
    """Cap of candidates; a cap of 200 costs .056 at 256K tokens."""
    dense_weight: float
    smooth: bool
    """Units lend their neighbours a part of their scores."""
    dense_smooth: float
    """Share of the smoothed scores in what vectors say."""
    hop_weight: float
    """Of the terms of the second hop."""
    hop_share: float
    """Of the budget, for chunks by their own score and the second hop's terms; 0 for no second hop."""
    whole_units: bool
    """A part of a long text counts as the best of its parts does: the text is taken whole."""
    speaker_bonus: float
    """For what is said by somebody whom the question names; texts tell who speaks (`Maria: ...`)."""
    recency_bonus: float
    """For the newest, falling; the best relevance is 1."""
    role_power: float
    """Of the weights of roles in `score.py`; 0 for none."""
    identifier_bonus: float
    """For identifiers that the chosen lack, per token; the best relevance is 1."""
    weights: Weights
    rerank_head: int
    """So many of the best fused are reranked."""
    mmr_balance: float | None
    token_exponent: float
    """Value is score / max(tokens, `token_floor`) ** this; 0 is plain score order."""
    token_floor: int
    stop: float
    """Nothing below this share of the best fused score is taken."""
    near_duplicate: float | None
    """A text is dropped when the chosen ones hold this share of it already."""
    expand_ratio: float
    """Share of the budget for the neighbours of the chosen."""


OVERRIDABLE = frozenset(field.name for field in fields(Profile)) - {"name", "weights"}


def choose(settings: Settings, history: History) -> Profile:
    """`auto`: `agent` when the turn that asks has tool steps."""
    name = settings.profile
    if name == "auto":
        name = "agent" if history.works_with_tools else "conversation"
    made = {"seed": _seed, "agent": _agent, "documents": _documents}.get(name, _conversation)(settings)
    return _changed(made, settings.profile_overrides)


def _changed(profile: Profile, overrides: Mapping[str, Any]) -> Profile:
    """Raises `PermanentFault` for a name that can not be set."""
    if wrong := sorted(overrides.keys() - OVERRIDABLE):
        raise PermanentFault(f"profile_overrides: there is no {', '.join(wrong)}")
    return replace(profile, **overrides)


def _seed(settings: Settings) -> Profile:
    return Profile(
        name="seed",
        context_share=None,
        dense_only=True,
        candidates=settings.retrieve_candidates,
        dense_weight=1.0,
        smooth=False,
        dense_smooth=0.0,
        hop_weight=0.0,
        hop_share=0.0,
        whole_units=False,
        speaker_bonus=0.0,
        recency_bonus=0.0,
        role_power=0.0,
        identifier_bonus=0.0,
        weights=Weights(
            rerank=settings.score_w_rerank,
            fused=0.0,
            recency=settings.score_w_recency,
            role=settings.score_w_role,
        ),
        rerank_head=settings.rerank_candidates,
        mmr_balance=settings.mmr_lambda,
        token_exponent=0.0,
        token_floor=1,
        stop=0.0,
        near_duplicate=None,
        expand_ratio=settings.context_expand_ratio,
    )


def _conversation(settings: Settings) -> Profile:
    return Profile(
        name="conversation",
        context_share=0.25,
        dense_only=False,
        candidates=None,
        dense_weight=0.7,
        smooth=True,
        dense_smooth=0.5,
        hop_weight=0.5,
        hop_share=0.25,
        whole_units=True,
        speaker_bonus=0.3,
        recency_bonus=0.0,
        role_power=0.0,
        identifier_bonus=0.0,
        weights=Weights(
            rerank=settings.score_w_rerank, fused=1 - settings.score_w_rerank, recency=TIE, role=0.0
        ),
        rerank_head=settings.rerank_candidates,
        mmr_balance=None,
        token_exponent=1.0,
        token_floor=128,
        stop=settings.memory_target,
        near_duplicate=None,
        expand_ratio=0.0,
    )


def _agent(settings: Settings) -> Profile:
    return Profile(
        name="agent",
        context_share=None,
        dense_only=False,
        candidates=None,
        dense_weight=0.7,
        smooth=True,
        dense_smooth=0.5,
        hop_weight=0.0,
        hop_share=0.0,
        whole_units=False,
        speaker_bonus=0.0,
        recency_bonus=0.3,
        role_power=1.0,
        identifier_bonus=1.0,
        weights=Weights(
            rerank=settings.score_w_rerank, fused=1 - settings.score_w_rerank, recency=TIE, role=0.0
        ),
        rerank_head=settings.rerank_candidates,
        mmr_balance=None,
        token_exponent=0.0,
        token_floor=1,
        stop=settings.memory_target,
        near_duplicate=0.7,
        expand_ratio=0.0,
    )


def _documents(settings: Settings) -> Profile:
    """Passages that do not continue each other: nothing is lent, and a long one is as good as a short one.

    DomainRAG at 2K .418 -> .567, its dialogues at 4K .520 -> .760, against `conversation`.
    """
    return replace(
        _conversation(settings),
        name="documents",
        smooth=False,
        dense_smooth=0.0,
        hop_weight=0.0,
        hop_share=0.0,
        whole_units=False,
        token_exponent=0.0,
    )
