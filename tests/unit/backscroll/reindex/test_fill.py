"""A collection filled from another one's texts, whatever happens meanwhile."""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backscroll.reindex import fill as filling
from backscroll.reindex.fill import Filled, fill
from shared.bus.erased import OfEra, Session
from shared.errors import DependencyUnavailable, PermanentFault
from shared.models.port import Vector
from shared.store.edge import EdgeStore
from shared.store.mapping import Where
from shared.store.points import PointStore
from shared.store.port import Coverage, IndexedMessage, Origin
from tests.support.hashing import HashingEmbedder, hashed
from tests.support.indexed import DIM, WORDS, indexed, key_of, unit_vector


@dataclass
class Eras:
    known: Counter[Session] = field(default_factory=Counter)

    async def __call__(self, given: Iterable[OfEra]) -> dict[Session, int]:
        return {(each.tenant, each.session): self.known[each.tenant, each.session] for each in given}


class Model(HashingEmbedder):
    """`before` is called with the number of texts embedded so far."""

    before: Callable[[int], None] = staticmethod(lambda _: None)

    async def passages(self, texts: Sequence[str]) -> list[Vector]:
        self.before(len(self.embedded))
        return await super().passages(texts)


@asynccontextmanager
async def stores(path: Path) -> AsyncIterator[tuple[PointStore, PointStore]]:
    old, new = EdgeStore(path, "old", DIM), EdgeStore(path, "new", Model.dim)
    try:
        await old.ensure()
        await new.ensure()
        yield old, new
    finally:
        await old.close()
        await new.close()


def message(name: str, *texts: str) -> IndexedMessage:
    return indexed(name, texts, [unit_vector(n) for n, _ in enumerate(texts)])


async def fill_quietly(old: PointStore, new: PointStore, model: Model, eras: Eras | None = None) -> Filled:
    return await fill(old, new, model, eras or Eras(), lambda _: None)


async def test_texts_are_embedded_by_the_other_model_and_once(tmp_path: Path) -> None:
    async with stores(tmp_path) as (old, new):
        a, b, empty = message("a", "amber basin", "cedar"), message("b", "cedar", "delta"), message("c")
        await old.put_vectors(Origin("t", "s", 1.0), [a, b, empty])
        model, told = Model(), []
        done = await fill(old, new, model, Eras(), lambda done: told.append((done.seen, done.total)))
        assert (done.messages, done.chunks, done.waiting, done.erased, done.faulty) == (3, 4, 0, 0, {})
        assert told[-1] == (3, 3)
        assert sorted(model.embedded) == ["amber basin", "cedar", "delta"]
        keys = [key_of(m) for m in (a, b, empty)]
        assert await new.missing("t", keys) == set()
        assert await new.coverage("t", keys) == Coverage(4, 4)
        assert await new.chunks("t", keys) == await old.chunks("t", keys)
        (text,) = await new.texts("t", [(key_of(b), 1, 0)])
        assert text is not None
        assert text.vector is not None
        np.testing.assert_allclose(text.vector, hashed("delta"), atol=1e-6)
        again = await fill_quietly(old, new, model)
        assert (again.messages, again.seen, len(model.embedded)) == (0, 3, 3)


async def test_what_is_still_being_written_waits_for_the_next_run(tmp_path: Path) -> None:
    async with stores(tmp_path) as (old, new):
        whole = message("a", "amber")
        await old.put_vectors(Origin("t", "s", 1.0), [whole])
        await old._delete(Where("t", addresses=[key_of(whole)], form="marker"))
        assert (await fill_quietly(old, new, Model())).waiting == 1
        assert await new.missing("t", [key_of(whole)]) == {key_of(whole)}
        await old.put_vectors(Origin("t", "s", 1.0), [whole])
        assert (await fill_quietly(old, new, Model())).messages == 1


async def test_a_text_that_cannot_be_embedded_is_found_by_its_words(tmp_path: Path) -> None:
    class Picky(Model):
        async def passages(self, texts: Sequence[str]) -> list[Vector]:
            if "amber" in texts:
                raise PermanentFault("not this one")
            return await super().passages(texts)

    async with stores(tmp_path) as (old, new):
        both = message("a", "amber", "basin")
        await old.put_vectors(Origin("t", "s", 1.0), [both])
        done = await fill_quietly(old, new, Picky())
        assert done.faulty == {both.chunks[0].digest: "not this one"}
        assert await new.coverage("t", [key_of(both)]) == Coverage(2, 1)


async def test_a_model_server_may_be_away_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling._put.retry, "wait", lambda _: 0.0)  # type: ignore[attr-defined]
    async with stores(tmp_path) as (old, new):
        await old.put_vectors(Origin("t", "s", 1.0), [message("a", "amber")])
        model, failures = Model(), iter([True] * 3)

        def away(_: int) -> None:
            if next(failures, False):
                raise DependencyUnavailable("embed_unavailable", "starting")

        model.before = away
        assert (await fill_quietly(old, new, model)).messages == 1


SESSIONS = [("t", "a"), ("t", "b"), ("u", "a")]
said_in = st.dictionaries(st.integers(0, 11), st.sets(st.sampled_from(SESSIONS), min_size=1), min_size=1)


class Crash(Exception):
    pass


@settings(max_examples=25, deadline=None)
@given(
    said_in,
    st.lists(st.integers(0, 12), max_size=3),
    st.sets(st.sampled_from(SESSIONS)),
    st.sets(st.sampled_from(SESSIONS)),
)
async def test_it_ends_the_same_whatever_is_erased_and_however_often_it_crashes(
    said: dict[int, set[Session]], crashes: list[int], before: set[Session], meanwhile: set[Session]
) -> None:
    eras, model = Eras(Counter(before)), Model()
    texts = {n: f"{WORDS[n % len(WORDS)]} {n}" for n in said}
    with TemporaryDirectory() as folder:
        async with stores(Path(folder)) as (old, new):
            by_session = defaultdict(list)
            for n, sessions in said.items():
                for session in sessions:
                    by_session[session].append(indexed(str(n), [texts[n]], tenant=session[0]))
            for (tenant, session), messages in by_session.items():
                await old.insert_terms(Origin(tenant, session, 1.0), messages)

            def crash(embedded: int) -> None:
                eras.known |= Counter(meanwhile)
                if embedded in crashes:
                    crashes.remove(embedded)
                    raise Crash

            model.before = crash
            done = None
            while done is None:
                try:
                    done = await fill_quietly(old, new, model, eras)
                except Crash:
                    continue
            eras.known |= Counter(meanwhile)
            await fill_quietly(old, new, model, eras)

            for tenant in ("t", "u"):
                alive = {
                    n
                    for n, sessions in said.items()
                    if any(s[0] == tenant and not eras.known[s] for s in sessions)
                }
                keys = {key_of(indexed(str(n), tenant=tenant)): n for n in said}
                there = set(keys) - await new.missing(tenant, list(keys))
                assert {keys[key] for key in there} == alive
                assert await new.coverage(tenant, list(keys)) == Coverage(len(alive), len(alive))
                for key in there:
                    (text,) = await new.texts(tenant, [(key, 0, 0)])
                    assert text is not None
                    assert text.text == texts[keys[key]]
                    assert text.vector is not None
                    np.testing.assert_allclose(text.vector, hashed(text.text), atol=1e-6)
    said_by = {n: len({tenant for tenant, _ in sessions}) for n, sessions in said.items()}
    assert all(count <= said_by[int(text.split()[1])] for text, count in Counter(model.embedded).items())
