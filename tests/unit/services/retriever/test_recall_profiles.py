"""What a profile makes of the same conversation."""

import pytest

from tests.unit.services.retriever.recalled import TALK, recall, stored
from tests.unit.services.retriever.support import Talk


async def test_the_seed_profile_takes_neighbours_along() -> None:
    found = await recall(await stored(), profile="seed").retrieve(TALK.ask(budget=400))
    why = {c.position: c.why for c in found.chosen}
    assert why[0] == "relevance"
    assert "neighbour" in why.values()


@pytest.mark.parametrize("profile", ["conversation", "documents"])
async def test_what_the_one_says_whom_the_question_names_goes_first(profile: str) -> None:
    said = [("user", f"{who}: I bought a red bicycle yesterday.") for who in ("Tom", "Maria", "Tom", "Anna")]
    talk = Talk([*said, ("user", "Which bicycle did Maria buy?")])
    ranked = {}
    for bonus in (0.0, 0.3):
        changed = {"speaker_bonus": bonus}
        one = recall(await stored(talk), profile=profile, profile_overrides=changed)
        found = await one.retrieve(talk.ask(budget=400))
        ranked[bonus] = next(c.score for c in found.chosen if c.position == 1)
        assert found.chosen[0].position == 1
    assert ranked[0.3] > ranked[0.0]


async def test_an_agent_prefers_names_that_it_has_not_seen() -> None:
    calls = [
        ("tool", "open src/app.py: def run in src/app.py failed"),
        ("tool", "open src/app.py: def run in src/app.py failed again"),
        ("tool", "list: lib/session_store.py lib/token_cache.py failed"),
    ]
    talk = Talk([("user", "fix it"), *calls, ("assistant", "open"), ("tool", "src/app.py def run failed")])
    found = await recall(await stored(talk)).retrieve(talk.ask(window=4, budget=140))
    assert found.profile == "agent"
    assert 3 in [c.position for c in found.chosen[:2]]


async def test_an_agent_reads_a_repeated_file_once() -> None:
    listing = "def parse(line): return line.split(',') or raise ValueError for bad rows in the table"
    steps = [
        ("user", "Fix parse in table.py"),
        ("assistant", "cat table.py"),
        ("tool", listing),
        ("assistant", "cat table.py again"),
        ("tool", listing + " # end"),
        ("assistant", "pytest"),
        ("tool", "parse failed: ValueError bad rows"),
    ]
    talk = Talk(steps)
    found = await recall(await stored(talk)).retrieve(talk.ask(budget=2000))
    assert found.profile == "agent"
    assert len({c.position for c in found.chosen} & {2, 4}) == 1
    assert "duplicate" in {c.why for c in found.dropped}


async def test_one_request_may_be_ranked_in_another_way() -> None:
    asked = TALK.ask(budget=120).model_copy(update={"overrides": {"profile": "seed"}})
    ranked = recall(await stored())
    assert (await ranked.retrieve(asked)).profile == "seed"
    assert (await ranked.retrieve(TALK.ask(budget=120))).profile == "conversation"
