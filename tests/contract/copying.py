"""A store read whole, and another one filled; part of the suite in `test_chunk_store.py`."""

import random
from itertools import chain

import numpy as np

from shared.store.copying import Said
from shared.store.points import PointStore
from shared.store.port import Coverage, Origin
from tests.support.indexed import indexed, key_of, random_messages, unit_vector


async def all_said(store: PointStore) -> set[Said]:
    pages = [page async for page in store.said()]
    found = list(chain.from_iterable(pages))
    assert len(found) == len(set(found)) == await store.said_count()
    return set(found)


class CopyingContract:
    async def test_who_said_what_of_all_tenants(self, store: PointStore) -> None:
        assert await all_said(store) == set()
        rng = random.Random(3)
        expected = set()
        for tenant, session, era, count in (("t", "a", 0, 700), ("t", "b", 2, 5), ("u", "a", 0, 5)):
            origin = Origin(tenant, session, 4.5, era)
            messages = random_messages(rng, count, tenant)
            await store.insert_terms(origin, messages)
            expected |= {Said(origin, key_of(message)) for message in messages}
        assert await all_said(store) == expected

    async def test_messages_come_back_as_they_were_written(self, store: PointStore) -> None:
        messages = [*random_messages(random.Random(5), 40), indexed("nul", ["a\x00b \U0001f642 漢字"])]
        await store.insert_terms(Origin("t", "a", 1.0), messages)
        back = await store.messages("t", [key_of(message) for message in messages])
        assert {m.address: m.chunks for m in back} == {m.address: m.chunks for m in messages}
        assert await store.messages("u", [key_of(message) for message in messages]) == []
        assert await store.messages("t", []) == []

    async def test_what_is_copied_is_there_and_said_by_all_who_said_it(self, store: PointStore) -> None:
        mine, both = indexed("a", ["amber", "basin"], [unit_vector(1), None]), indexed("b")
        said = [
            Said(Origin("t", s, at, e), key_of(m)) for s, at, e, m in (("x", 1, 0, mine), ("y", 2, 3, both))
        ]
        said.append(Said(Origin("t", "x", 9.0, 0), key_of(both)))
        await store.copy(said, [mine, both])
        assert await all_said(store) == set(said)
        keys = [key_of(mine), key_of(both)]
        assert await store.missing("t", keys) == set()
        assert await store.coverage("t", keys) == Coverage(2, 1)
        (text,) = await store.texts("t", [(key_of(mine), 0, 0)])
        assert text is not None
        assert text.vector is not None
        np.testing.assert_allclose(text.vector, unit_vector(1), atol=1e-6)
        gone = await store.forget("t", "x", before=1)
        assert (gone.messages, gone.kept) == (1, 1)
        assert await store.missing("t", keys) == {key_of(mine)}
