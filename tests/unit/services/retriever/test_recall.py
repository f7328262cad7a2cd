"""The orchestration on a store in memory: what is chosen, and what happens when a part is away."""

import asyncio

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.retriever.recall import Recall
from shared.contracts.rpc import Candidate, ChunkRef, Retrieved
from shared.conversation.address import text_digest
from shared.errors import DependencyUnavailable, PermanentFault
from shared.prompt.plan import LABEL_TOKENS, Excerpt
from shared.settings import Settings
from shared.store.port import Origin
from tests.support.memory_store import MemoryStore
from tests.unit.services.retriever.support import TENANT, FakeEmbedder, FakeReranker, Talk

TALK = Talk(
    [
        ("user", "The staging server of project Falcon listens on port 7391."),
        ("assistant", "Noted, I will remember it."),
        *[("user", f"Let us talk about the weather in week {week}.") for week in range(20)],
        ("user", "We should plan the garden party."),
        ("assistant", "A garden party needs chairs."),
        ("user", "Which port does the staging server of Falcon use?"),
    ]
)
NO_RANK = FakeReranker(ranks=False)


def recall(
    store: MemoryStore,
    embedder: FakeEmbedder | None = None,
    reranker: FakeReranker = NO_RANK,
    **values: object,
) -> Recall:
    return Recall(Settings(**values), store, embedder or FakeEmbedder(), reranker)


async def stored(talk: Talk = TALK) -> MemoryStore:
    store = MemoryStore()
    await talk.store_in(store)
    return store


def cost(found: Retrieved) -> int:
    return sum(c.tokens + LABEL_TOKENS for c in found.chosen)


def text_of(talk: Talk, chosen: Candidate) -> str:
    return talk.messages[chosen.position][1][chosen.start : chosen.end]


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


async def test_what_must_be_taken_is_taken_first_even_when_nothing_found_it() -> None:
    found = await recall(await stored()).retrieve(TALK.ask(budget=120, must_take=(ChunkRef(10, 0, 0),)))
    assert (found.chosen[0].position, found.chosen[0].why) == (10, "must")
    inside = await recall(await stored()).retrieve(TALK.ask(window=8, must_take=(ChunkRef(10, 0, 0),)))
    assert 10 not in [c.position for c in inside.chosen]


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


async def test_missing_positions_are_named_where_the_caller_waits() -> None:
    store = MemoryStore()
    await TALK.store_in(store, [0, 1, 2, 5])
    found = await recall(store).retrieve(TALK.ask(window=6, check_from=1, wait_for_index=True))
    assert (found.missing, found.indexed_to, found.chosen) == ((3, 4), 3, ())
    assert store.calls["search"] == 0
    found = await recall(store).retrieve(TALK.ask(window=6, check_from=1))
    assert (found.missing, found.indexed_to, found.degraded) == ((), 3, ("index_incomplete",))
    assert found.chosen


async def test_what_an_earlier_store_held_is_not_believed_of_a_new_one() -> None:
    store = MemoryStore(made="anew")
    await TALK.store_in(store, [3, 4, 5])
    asked = TALK.ask(window=6, check_from=3, covered_to=3, wait_for_index=True)
    found = await recall(store).retrieve(asked)
    assert (found.missing, found.index, found.covered_to) == ((0, 1, 2), "anew", 0)


async def with_vectors(share: float) -> MemoryStore:
    """Vectors for the first share of the messages; the garden party resembles every question."""
    store = await stored()
    count = len(TALK.messages) - 1
    party = np.array([1, 1, 1, 1], dtype=np.float32) / 2
    other = np.array([1, -1, 1, -1], dtype=np.float32) / 2
    messages = [TALK.indexed(p, party if p == 22 else other) for p in range(count)]
    order = [22, *(p for p in range(count) if p != 22)]
    await store.put_vectors(Origin(TENANT, "s", 0.0), [messages[p] for p in order[: round(share * count)]])
    return store


async def test_vectors_join_once_they_cover_the_request() -> None:
    embedder = FakeEmbedder()
    few = await recall(await with_vectors(0.5), embedder).retrieve(TALK.ask())
    assert embedder.calls == 0
    assert {c.dense for c in few.chosen} == {0.0}
    assert (few.covered_to, few.degraded) == (0, ())

    most = await recall(await with_vectors(0.9), embedder).retrieve(TALK.ask())
    assert most.covered_to == 0
    assert {c.position: c.dense for c in most.chosen}[22] == pytest.approx(1.0)

    everything = await recall(await with_vectors(1.0), embedder).retrieve(TALK.ask())
    assert everything.covered_to == len(TALK.messages) - 1
    known = await recall(await with_vectors(1.0)).retrieve(TALK.ask(covered_to=len(TALK.messages) - 1))
    assert known.chosen == everything.chosen


async def test_positions_known_to_be_covered_count_as_covered() -> None:
    store = await with_vectors(0.5)
    found = await recall(store).retrieve(TALK.ask(covered_to=20))
    assert any(c.dense for c in found.chosen)


@pytest.mark.parametrize(
    "fault", [DependencyUnavailable("embed_unavailable", "down"), PermanentFault("refused"), TimeoutError()]
)
async def test_without_a_query_vector_terms_serve_alone(fault: Exception) -> None:
    found = await recall(await with_vectors(1.0), FakeEmbedder(fails=fault)).retrieve(TALK.ask())
    assert found.degraded == ("embed_unavailable",)
    assert found.chosen[0].position == 0


async def test_a_slow_embedding_server_has_a_deadline() -> None:
    class Slow(FakeEmbedder):
        async def query(self, text: str) -> np.ndarray:
            await asyncio.sleep(30)
            raise AssertionError

    service = recall(await with_vectors(1.0), Slow(), query_embed_timeout_s=0.01)
    assert (await service.retrieve(TALK.ask())).degraded == ("embed_unavailable",)


async def test_a_query_is_embedded_once_a_tenant() -> None:
    embedder = FakeEmbedder()
    service = recall(await with_vectors(1.0), embedder)
    await service.retrieve(TALK.ask())
    await service.retrieve(TALK.ask())
    assert embedder.calls == 1


async def test_the_store_being_down_is_the_callers_to_handle() -> None:
    store = await stored()
    store.down = True
    with pytest.raises(DependencyUnavailable) as caught:
        await recall(store).retrieve(TALK.ask())
    assert caught.value.part == "retriever_unavailable"


async def test_a_cross_encoder_orders_the_head() -> None:
    reranker = FakeReranker(answers=("chairs",))
    found = await recall(await stored(), reranker=reranker).retrieve(TALK.ask(budget=70))
    asked, _ = reranker.seen[0]
    assert asked == TALK.messages[-1][1]
    chairs = next(c for c in (*found.chosen, *found.dropped) if c.position == 23)
    assert chairs.rerank == 0.9
    assert chairs.score > chairs.fused


async def test_the_light_scorer_is_not_asked_to_rank() -> None:
    reranker = FakeReranker(ranks=False)
    found = await recall(await stored(), reranker=reranker).retrieve(TALK.ask())
    assert reranker.seen == []
    assert found.degraded == ()


@pytest.mark.parametrize("profile", ["conversation", "seed"])
async def test_with_the_reranker_down_the_fused_order_serves(profile: str) -> None:
    down = FakeReranker(fails=DependencyUnavailable("rerank_unavailable", "down"))
    store = await stored()
    found = await recall(store, reranker=down, profile=profile).retrieve(TALK.ask(budget=150))
    assert found.degraded == ("rerank_unavailable",)
    assert 0 in [c.position for c in found.chosen]


async def test_the_references_fallback_is_newest_first_in_its_own_profile_only() -> None:
    down = FakeReranker(fails=DependencyUnavailable("rerank_unavailable", "down"))
    store, request = await stored(), TALK.ask(budget=150)
    seed = recall(store, reranker=down, profile="seed", rerank_fallback="zero")
    positions = [c.position for c in (await seed.retrieve(request)).chosen]
    assert positions[0] == 22
    assert 0 not in positions
    zero = recall(store, reranker=down, rerank_fallback="zero")
    fused = recall(store, reranker=down, rerank_fallback="fused")
    assert await zero.retrieve(request) == await fused.retrieve(request)


async def test_the_seed_profile_takes_neighbours_along() -> None:
    found = await recall(await stored(), profile="seed").retrieve(TALK.ask(budget=400))
    why = {c.position: c.why for c in found.chosen}
    assert why[0] == "relevance"
    assert "neighbour" in why.values()


@pytest.mark.parametrize(("whole", "parts"), [(True, {0, 1, 2, 3}), (False, {0, 2})])
async def test_a_long_answer_is_taken_whole(whole: bool, parts: set[int]) -> None:
    plan = "The Falcon launch plan. " + "Then the next step of the work is done with care. " * 24
    boats = [("user", f"Week {n}: a launch of paper boats on the lake.") for n in range(30)]
    talk = Talk([("assistant", plan), *boats, ("user", "What is the Falcon launch plan?")])
    changed = {"whole_units": whole, "token_exponent": 0.0}
    found = await recall(await stored(talk), profile_overrides=changed).retrieve(talk.ask(budget=900))
    assert {c.part for c in found.chosen if c.position == 0} == parts


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


async def test_one_request_may_be_ranked_in_another_way() -> None:
    asked = TALK.ask(budget=120).model_copy(update={"overrides": {"profile": "seed"}})
    ranked = recall(await stored())
    assert (await ranked.retrieve(asked)).profile == "seed"
    assert (await ranked.retrieve(TALK.ask(budget=120))).profile == "conversation"


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
