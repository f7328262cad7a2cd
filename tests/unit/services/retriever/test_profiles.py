from dataclasses import replace

import pytest

from services.retriever.profiles import choose
from shared.errors import PermanentFault
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


@pytest.mark.parametrize("name", ["seed", "conversation", "agent", "documents"])
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


@pytest.mark.parametrize("name", ["conversation", "agent", "documents"])
def test_filling_stops_where_the_setting_says(name: str) -> None:
    settings = Settings(profile=name, memory_target=0.2)
    assert choose(settings, Talk([]).history).stop == 0.2


def test_documents_lend_each_other_nothing() -> None:
    profile = choose(Settings(profile="documents"), Talk([]).history)
    assert (profile.smooth, profile.hop_share, profile.token_exponent) == (False, 0.0, 0.0)


def test_a_part_of_a_profile_can_be_set_otherwise() -> None:
    usual = choose(Settings(), Talk([]).history)
    changed = choose(Settings(profile_overrides={"smooth": False, "stop": 0}), Talk([]).history)
    assert changed == replace(usual, smooth=False, stop=0)


@pytest.mark.parametrize("name", ["nothing", "name", "weights"])
def test_what_is_no_part_of_a_profile_cannot_be_set(name: str) -> None:
    with pytest.raises(PermanentFault, match=name):
        choose(Settings(profile_overrides={name: 1}), Talk([]).history)
