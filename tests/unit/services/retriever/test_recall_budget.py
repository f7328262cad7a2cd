"""What is chosen has to fit: chunks are cut, long answers taken whole or left."""

import pytest

from shared.contracts.rpc import ChunkRef
from shared.conversation.address import text_digest
from shared.prompt.plan import LABEL_TOKENS, Excerpt
from tests.unit.services.retriever.recalled import TALK, recall, stored, text_of
from tests.unit.services.retriever.support import Talk


async def test_a_part_of_a_long_answer_gives_way_to_a_short_message() -> None:
    lecture = "The vault has a code, and codes of a vault are long to explain. " * 20
    talk = Talk(
        [
            ("assistant", lecture),
            *[("user", f"Topic {n}.") for n in range(9)],
            ("user", "Vault code is 4711."),
            ("user", "What is the vault code?"),
        ]
    )
    found = await recall(await stored(talk)).retrieve(talk.ask(budget=250))
    assert found.chosen[0].position == 10


async def test_a_chunk_longer_than_what_is_left_is_cut_to_sentences() -> None:
    long = "Words about nothing in general fill the page. " * 4
    talk = Talk(
        [("user", long + "The code of the vault is 4711. " + long), ("user", "What is the vault code?")]
    )
    found = await recall(await stored(talk)).retrieve(talk.ask(budget=150))
    (part,) = found.chosen
    assert "4711" in text_of(talk, part)
    assert text_of(talk, part).endswith((". ", "."))
    assert part.digest == text_digest(text_of(talk, part))
    assert part.tokens + LABEL_TOKENS <= 150


async def test_what_was_cut_out_before_is_not_taken_again() -> None:
    long = "Words about nothing in general fill the page. " * 4
    talk = Talk(
        [("user", long + "The code of the vault is 4711. " + long), ("user", "What is the vault code?")]
    )
    service = recall(await stored(talk))
    (first,) = (await service.retrieve(talk.ask(budget=150))).chosen
    held = Excerpt(first.position, first.unit, first.start, first.end, first.digest, first.tokens)
    again = await service.retrieve(talk.ask(budget=150, excerpts=(held,)))
    assert again.chosen == ()


async def test_without_a_budget_it_only_ranks() -> None:
    store = await stored()
    found = await recall(store).retrieve(TALK.ask(budget=0, window=20))
    assert found.chosen == found.dropped == ()
    assert found.best_outside[0] == ChunkRef(0, 0, 0)
    assert store.calls["texts"] == store.calls["chunks"] == 0


async def test_near_misses_are_reported_with_their_reason() -> None:
    found = await recall(await stored()).retrieve(TALK.ask(budget=70))
    assert 0 < len(found.dropped) <= 50
    assert {c.why for c in found.dropped} <= {"budget", "rank"}
    assert not {c[:3] for c in found.dropped} & {c[:3] for c in found.chosen}


@pytest.mark.parametrize(("whole", "parts"), [(True, {0, 1, 2, 3}), (False, {0, 2})])
async def test_a_long_answer_is_taken_whole(whole: bool, parts: set[int]) -> None:
    plan = "The Falcon launch plan. " + "Then the next step of the work is done with care. " * 24
    boats = [("user", f"Week {n}: a launch of paper boats on the lake.") for n in range(30)]
    talk = Talk([("assistant", plan), *boats, ("user", "What is the Falcon launch plan?")])
    changed = {"whole_units": whole, "token_exponent": 0.0}
    found = await recall(await stored(talk), profile_overrides=changed).retrieve(talk.ask(budget=900))
    assert {c.part for c in found.chosen if c.position == 0} == parts
