"""What every chunk store forgets, and what it keeps; part of the suite in `test_chunk_store.py`."""

import random
from collections.abc import Sequence

import pytest

from shared.store.port import ChunkStore, Coverage, Forgotten, IndexedMessage, Origin, Search
from shared.text.terms import document_terms
from tests.support.indexed import indexed, key_of, random_messages, unit_vector
from tests.support.memory_store import MemoryStore

SHARED = indexed("shared", ["amber basin"], [unit_vector(1)])
MINE = indexed("mine", ["cedar delta", "ember"], [unit_vector(2), unit_vector(3)])
THEIRS = indexed("theirs", ["fjord grove"], [unit_vector(4)])
ALL = (SHARED, MINE, THEIRS)


def said(session: str, era: int = 0, at: float = 1.0, tenant: str = "t") -> Origin:
    return Origin(tenant, session, at, era)


async def there(store: ChunkStore, tenant: str = "t", messages: Sequence[IndexedMessage] = ALL) -> set[str]:
    """Addresses of those that are there whole; nothing may be there in part."""
    keys = {key_of(m): m for m in messages}
    missing = await store.missing(tenant, list(keys))
    for key, message in keys.items():
        left = await store.chunks(tenant, [key])
        assert len(left) == (0 if key in missing else len(message.chunks))
    return {message.address for key, message in keys.items() if key not in missing}


async def two_sessions(store: ChunkStore) -> None:
    await store.put_vectors(said("a"), [SHARED, MINE])
    await store.insert_terms(said("b"), [SHARED, THEIRS])


class ForgettingContract:
    async def test_a_session_is_forgotten_but_for_what_another_said_too(self, store: ChunkStore) -> None:
        await two_sessions(store)
        assert await store.forget("t", "a", before=1) == Forgotten(messages=1, chunks=2, kept=1)
        assert await there(store) == {SHARED.address, THEIRS.address}
        # What stays is whole: text, terms and vector.
        assert await store.coverage("t", [key_of(SHARED)]) == Coverage(1, 1)
        found = await store.search(
            Search("t", [key_of(m) for m in ALL], document_terms("cedar amber"), None, 9)
        )
        assert [hit.chunk.address for hit in found.by_terms] == [key_of(SHARED)]
        digests = [chunk.digest for chunk in MINE.chunks]
        assert await store.vectors_by_digest("t", digests) == {}
        assert await store.texts("t", [(key_of(MINE), 0, 0)]) == [None]
        assert await store.forget("t", "b", before=1) == Forgotten(messages=2, chunks=2)
        assert await there(store) == set()

    async def test_nothing_is_forgotten_twice_or_of_another(self, store: ChunkStore) -> None:
        await two_sessions(store)
        await store.insert_terms(said("a", tenant="other"), [SHARED, MINE])
        for tenant, session, before in (("t", "c", 9), ("nobody", "a", 9), ("t", "a", 0)):
            assert await store.forget(tenant, session, before) == Forgotten()
        await store.forget("t", "a", before=1)
        assert await store.forget("t", "a", before=1) == Forgotten()
        assert await there(store, "other") == {SHARED.address, MINE.address}

    async def test_what_is_said_after_the_erasure_stays(self, store: ChunkStore) -> None:
        await store.put_vectors(said("a", era=0), [MINE, SHARED])
        await store.insert_terms(said("a", era=7), [MINE])
        assert await store.forget("t", "a", before=7) == Forgotten(messages=1, chunks=1, kept=1)
        assert await there(store) == {MINE.address}

    async def test_what_was_written_while_it_was_forgotten(self, store: ChunkStore) -> None:
        await store.insert_terms(said("b"), [SHARED])
        # As a write leaves it whose sayings went between its first batch and its last.
        await store.insert_terms(said("a"), [SHARED, MINE])
        await store.forget("t", "a", before=5)
        await store.put_vectors(said("a"), [SHARED, MINE])
        late = [key_of(SHARED), key_of(MINE)]
        assert await store.forget("t", "a", before=5, addresses=late) == Forgotten(1, 2, 1)
        assert await there(store) == {SHARED.address}
        assert await store.forget("t", "a", before=5, addresses=late) == Forgotten()

    async def test_what_nobody_said_for_long_expires(self, store: ChunkStore) -> None:
        await store.insert_terms(said("a", at=10.0), [SHARED, MINE])
        await store.insert_terms(said("b", at=20.0), [SHARED])
        await store.insert_terms(said("a", at=10.0, tenant="other"), [MINE])
        assert await store.expire(10.0) == Forgotten()
        assert await store.expire(15.0) == Forgotten(messages=2, chunks=4, kept=1)
        assert await there(store) == {SHARED.address}
        assert await there(store, "other") == set()

    async def test_another_identity_tells_that_something_went(
        self, store: ChunkStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("shared.store.forgetting.IDENTITY_S", 0.0)
        await two_sessions(store)
        await store.insert_terms(said("a", tenant="other"), [MINE])
        before, others = await store.identity("t"), await store.identity("other")
        await store.forget("t", "c", before=1)
        assert await store.identity("t") == before
        await store.forget("t", "a", before=1)
        assert await store.identity("t") != before
        assert await store.identity("other") == others

    async def test_a_message_without_text_is_forgotten_too(self, store: ChunkStore) -> None:
        silent = indexed("silent")
        await store.insert_terms(said("a"), [silent])
        assert await store.forget("t", "a", before=1) == Forgotten(messages=1)
        assert await store.missing("t", [key_of(silent)]) == {key_of(silent)}

    async def test_compacting_changes_nothing(self, store: ChunkStore) -> None:
        await two_sessions(store)
        before = await store.identity("t")
        await store.forget("t", "c", before=1)
        await store.compact()
        await store.compact()
        assert await there(store) == {m.address for m in ALL}
        assert await store.identity("t") == before
        search = Search("t", [key_of(m) for m in ALL], document_terms("cedar"), unit_vector(3), 9)
        found = await store.search(search)
        assert found.by_terms[0].chunk.address == key_of(MINE)
        assert found.by_vector[0].chunk[:2] == (key_of(MINE), 1)
        await store.insert_terms(said("c"), [indexed("later", ["heath"])])
        assert await store.forget("t", "a", before=1) == Forgotten(1, 2, 1)

    @pytest.mark.parametrize("seed", range(2))
    async def test_any_order_of_sayings_and_erasures(self, store: ChunkStore, seed: int) -> None:
        """As the plainest store there is keeps it."""
        rng = random.Random(seed)
        messages, plain = random_messages(rng, 12), MemoryStore()
        for step in range(25):
            session, era, part = rng.choice("abc"), rng.randint(0, 2), rng.sample(messages, 3)
            kind = rng.choice(("terms", "vectors", "forget", "expire"))
            for each in (store, plain):
                match kind:
                    case "terms":
                        await each.insert_terms(said(session, era, step), part)
                    case "vectors":
                        await each.put_vectors(said(session, era, step), part)
                    case "forget":
                        await each.forget("t", session, era)
                    case _:
                        await each.expire(step - 12)
            assert await there(store, messages=messages) == await there(plain, messages=messages)
