"""The orchestration on a store in memory: what is chosen."""

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.contracts.rpc import ChunkRef, Retrieved
from shared.conversation.address import text_digest
from shared.prompt.plan import LABEL_TOKENS, Excerpt
from tests.support.memory_store import MemoryStore
from tests.unit.services.retriever.recalled import TALK, recall, stored, text_of
from tests.unit.services.retriever.support import Talk


def cost(found: Retrieved) -> int:
    return sum(c.tokens + LABEL_TOKENS for c in found.chosen)


async def test_takes_the_answer_and_says_what_it_saw() -> None:
    found = await recall(await stored()).retrieve(TALK.ask(budget=120))
    best = found.chosen[0]
    assert (best[:3], best.why) == ((0, 0, 0), "relevance")
    assert text_of(TALK, best).startswith("The staging server")
    assert best.digest == text_digest(text_of(TALK, best))
    assert found.profile == "conversation"
    assert found.found > 0
    assert found.indexed_to == len(TALK.messages) - 1
    assert found.best_outside[0] == ChunkRef(0, 0, 0)


async def test_a_neighbour_that_shares_no_word_is_lifted() -> None:
    found = await recall(await stored()).retrieve(TALK.ask(budget=300))
    assert 1 in [c.position for c in found.chosen]


async def test_what_is_inside_is_never_chosen_and_ranked_apart() -> None:
    found = await recall(await stored()).retrieve(TALK.ask(window=22, budget=4000))
    assert all(c.position < 22 for c in found.chosen)
    assert all(ref.position >= 22 for ref in found.best_inside)
    excerpt = Excerpt(0, 0, 0, 2**31 - 1, "", 0)
    found = await recall(await stored()).retrieve(TALK.ask(budget=4000, excerpts=(excerpt,)))
    assert 0 not in [c.position for c in found.chosen]
    assert found.best_inside[0] == ChunkRef(0, 0, 0)


async def test_the_question_itself_counts_on_neither_side() -> None:
    store = MemoryStore()
    await TALK.store_in(store, range(len(TALK.messages)))
    found = await recall(store).retrieve(TALK.ask(budget=4000))
    last = len(TALK.messages) - 1
    refs = [ref.position for ref in (*found.best_inside, *found.best_outside)]
    assert last not in refs
    assert found.chosen[0].fused == 1.0


async def test_a_question_that_is_stored_makes_its_own_words_no_less_rare() -> None:
    """Asked again it gets, to the last digit of each score, what it got before anyone had stored it."""
    again = MemoryStore()
    await TALK.store_in(again, range(len(TALK.messages)))
    first = await recall(await stored()).retrieve(TALK.ask())
    second = await recall(again).retrieve(TALK.ask())
    assert len(first.chosen) > 1
    assert second.chosen == first.chosen
    assert second == first


async def test_the_same_question_asked_before_leads_to_its_answer() -> None:
    filler = [("user", f"Something about topic {n}, at some length.") for n in range(30)]
    question = ("user", "What did the plumber say?")
    talk = Talk([*filler[:15], question, ("assistant", "Copper, before Thursday."), *filler[15:], question])
    found = await recall(await stored(talk)).retrieve(talk.ask(budget=100))
    assert found.chosen[0].position == 16


async def test_what_must_be_taken_is_taken_first_even_when_nothing_found_it() -> None:
    found = await recall(await stored()).retrieve(TALK.ask(budget=120, must_take=(ChunkRef(10, 0, 0),)))
    assert (found.chosen[0].position, found.chosen[0].why) == (10, "must")
    inside = await recall(await stored()).retrieve(TALK.ask(window=8, must_take=(ChunkRef(10, 0, 0),)))
    assert 10 not in [c.position for c in inside.chosen]


async def test_an_empty_history_and_no_question_are_answered() -> None:
    talk = Talk([])
    assert (await recall(MemoryStore()).retrieve(talk.ask(window=0))).chosen == ()


@settings(max_examples=40, deadline=None)
@given(st.data())
async def test_promises_hold_for_any_window_and_budget(data: st.DataObject) -> None:
    words = st.sampled_from(["falcon", "port", "garden", "weather", "chairs", "thursday", "copper", "plan"])
    text = st.lists(words, min_size=1, max_size=160).map(lambda chosen: " ".join(chosen) + ".")
    roles = st.sampled_from(["user", "assistant", "tool"])
    messages = data.draw(st.lists(st.tuples(roles, text), min_size=2, max_size=14))
    talk = Talk(messages)
    window = data.draw(st.integers(0, len(messages) - 1))
    budget = data.draw(st.integers(1, 1200))
    profile = data.draw(st.sampled_from(["seed", "conversation", "agent", "documents"]))
    held = data.draw(st.integers(0, len(messages) - 1))
    excerpt = Excerpt(held, 0, 0, data.draw(st.integers(0, 300)), "", 0)
    store = await stored(talk)
    request = talk.ask(window=window, budget=budget, excerpts=(excerpt,))
    found = await recall(store, profile=profile).retrieve(request)

    assert cost(found) <= budget
    inside_texts = {talk.messages[p] for p in range(window, len(messages))}
    for chosen in found.chosen:
        assert talk.messages[chosen.position] not in inside_texts
        assert chosen.digest == text_digest(text_of(talk, chosen))
        same_text = talk.messages[chosen.position] == talk.messages[held]
        assert not (same_text and chosen.end <= excerpt.end)
    assert found == await recall(store, profile=profile).retrieve(request)


async def test_every_part_of_a_score_is_told() -> None:
    found = await recall(await stored()).retrieve(TALK.ask(budget=120))
    told = (*found.chosen, *found.dropped)
    by_position = sorted(told, key=lambda c: c.position)
    assert [c.recency for c in by_position] == sorted(c.recency for c in told)
    assert {c.role for c in told} == {1.0, 0.8}


async def test_a_fact_is_found_that_only_another_fact_leads_to() -> None:
    """They stand far apart, share no word with the question but for the first, and one text speaks of it."""
    said = [("user", f"The week {n} brings wind to the north, and rain to the coast.") for n in range(60)]
    said[8] = ("user", "Dmitri took the teapot.")
    said[40] = ("user", "Dmitri moved to the library.")
    talk = Talk([*said, ("user", "Where in the north is the teapot?")])
    found = await recall(await stored(talk)).retrieve(talk.ask(budget=300))
    assert {8, 40} <= {c.position for c in found.chosen}
    alone = await recall(await stored(talk), profile_overrides={"hop_share": 0.0}).retrieve(
        talk.ask(budget=300)
    )
    assert 40 not in {c.position for c in alone.chosen}
