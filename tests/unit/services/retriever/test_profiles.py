import pytest

from services.retriever.profiles import choose
from shared.settings import Settings
from tests.unit.services.retriever.support import Talk

AGENT = [("user", "fix it"), ("assistant", "ls"), ("tool", "a.py")]


@pytest.mark.parametrize(
    ("messages", "name"),
    [
        ([], "conversation"),
        ([("user", "hi")], "conversation"),
        (AGENT, "agent"),
        ([*AGENT, ("assistant", "done")], "agent"),
        ([*AGENT, ("assistant", "done"), ("user", "thanks")], "conversation"),
    ],
)
def test_auto_looks_at_the_turn_that_asks(messages: list[tuple[str, str]], name: str) -> None:
    assert choose(Settings(), Talk(messages).history).name == name


@pytest.mark.parametrize("name", ["seed", "conversation", "agent"])
def test_a_named_profile_is_taken(name: str) -> None:
    assert choose(Settings(profile=name), Talk(AGENT).history).name == name


def test_the_seed_profile_follows_the_settings() -> None:
    settings = Settings(
        profile="seed",
        retrieve_candidates=7,
        mmr_lambda=0.5,
        score_w_rerank=0.6,
        score_w_recency=0.3,
        score_w_role=0.1,
    )
    seed = choose(settings, Talk([]).history)
    assert (seed.candidates, seed.mmr_balance, seed.expand_ratio) == (7, 0.5, 0.25)
    assert (seed.weights.rerank, seed.weights.recency, seed.weights.role) == (0.6, 0.3, 0.1)
