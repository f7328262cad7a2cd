import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.inside import read_inside
from services.retriever.locate import Occurrences, Pool, locate
from shared.prompt.plan import Excerpt
from shared.store.port import Found, Hit
from tests.support.memory_store import light
from tests.unit.services.retriever.support import Talk

TALK = Talk([("user", "ok"), ("user", "x" * 900), ("user", "ok"), ("user", "y"), ("user", "ok")])


def pool(talk: Talk, inside: list[bool], excerpts: tuple[Excerpt, ...] = (), seed: int = 0) -> Pool:
    history = talk.history
    stored = dict.fromkeys(light(c) for p in range(len(talk.messages)) for c in talk.indexed(p).chunks)
    hits = [Hit(chunk, float(score)) for score, chunk in enumerate(stored, start=1)]
    hits = [hits[row] for row in np.random.default_rng(seed).permutation(len(hits))]
    prompt = read_inside(history, np.packbits(inside).tobytes(), excerpts)
    return locate(history, Occurrences(history), prompt, Found(by_terms=hits))


def test_the_newest_of_equal_texts_counts() -> None:
    found = pool(TALK, [False] * 5)
    assert [found.ref(row) for row in range(len(found))] == [
        (1, 0, 0),
        (1, 0, 1),
        (1, 0, 2),
        (3, 0, 0),
        (4, 0, 0),
    ]
    assert not found.inside.any()


@pytest.mark.parametrize("position", [0, 2, 4])
def test_a_text_is_inside_where_one_of_its_occurrences_is(position: int) -> None:
    found = pool(TALK, [p == position for p in range(5)])
    assert found.inside.tolist() == [False, False, False, False, True]


def test_a_chunk_is_inside_where_excerpts_hold_all_of_it() -> None:
    touching = (Excerpt(1, 0, 300, 600, "", 0), Excerpt(1, 0, 600, 850, "", 0))
    assert pool(TALK, [False] * 5, touching).inside.tolist() == [False, True, False, False, False]
    # An excerpt out of the first "ok" holds the text of the last one too.
    assert pool(TALK, [False] * 5, (Excerpt(0, 0, 0, 2, "", 0),)).inside.tolist() == [False] * 4 + [True]


@given(st.integers(0, 100))
def test_the_order_of_hits_changes_nothing(seed: int) -> None:
    found, again = pool(TALK, [False] * 5), pool(TALK, [False] * 5, seed=seed)
    assert found.chunks == again.chunks
    assert found.terms.tolist() == again.terms.tolist()


def test_a_score_is_lent_around_every_occurrence() -> None:
    found = pool(TALK, [False] * 5)
    units = Occurrences(TALK.history).spread(found, found.terms)
    ok = found.terms[4]
    assert units.tolist() == [ok, max(found.terms[:3]), ok, found.terms[3], ok]


def test_units_and_messages_that_the_request_does_not_have_are_left_out() -> None:
    other = Talk([("user", "somewhere else")])
    history = TALK.history
    nothing = read_inside(history, b"", ())
    foreign = light(other.indexed(0).chunks[0])
    second = light(TALK.indexed(3).chunks[0])._replace(unit=1)
    hits = [Hit(foreign, 1.0), Hit(second, 1.0)]
    assert len(locate(history, Occurrences(history), nothing, Found(by_terms=hits))) == 0
