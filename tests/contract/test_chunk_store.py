"""What every chunk store does, run on each of them."""

import random
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient

from shared.contracts.base import Kind, Role
from shared.errors import PermanentFault
from shared.store.edge import EdgeStore
from shared.store.port import ChunkStore, Coverage, Found, Hit, IndexedMessage, Origin, Search
from shared.store.server import ServerStore
from shared.text.terms import Terms, term_index
from tests.contract.copying import CopyingContract
from tests.contract.forgetting import ForgettingContract
from tests.support.indexed import DIM, WORDS, indexed, key_of, random_messages, unit_vector
from tests.support.memory_store import MemoryStore
from tests.support.qdrant_http import serve_qdrant

ORIGIN = Origin("t", "first", 1000.0)
NOTHING = Terms((), ())
# The client says so on every index: it is right, and what makes local mode good for tests only.
local_mode = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


def words(*wanted: str) -> Terms:
    weights = sorted((term_index(word), 1.0) for word in wanted)
    return Terms(tuple(index for index, _ in weights), tuple(weight for _, weight in weights))


def find(
    messages: Sequence[IndexedMessage], terms: Terms = NOTHING, vector: int | None = None, limit: int = 10
) -> Search:
    addresses = [key_of(m) for m in messages]
    return Search("t", addresses, terms, None if vector is None else unit_vector(vector), limit)


def names(hits: list[Hit]) -> list[tuple[int, int, int]]:
    return [(hit.chunk.address, hit.chunk.unit, hit.chunk.part) for hit in hits]


class ChunkStoreContract(ForgettingContract):
    @pytest.fixture
    async def store(self) -> ChunkStore:
        raise NotImplementedError

    async def test_reads_back_what_was_written(self, store: ChunkStore) -> None:
        call = indexed("a", ["amber basin", "cedar"], role=Role.ASSISTANT, kind=Kind.TOOL_CALL, tool="grep")
        await store.insert_terms(ORIGIN, [call])
        first, second = await store.chunks("t", [key_of(call)])
        assert first == (
            key_of(call),
            0,
            0,
            0,
            11,
            2,
            Role.ASSISTANT,
            Kind.TOOL_CALL,
            "grep",
            call.chunks[0].digest,
        )
        assert isinstance(first.role, Role)
        assert isinstance(first.kind, Kind)
        assert second.unit == 1

    async def test_texts_come_in_the_order_asked_with_gaps_where_nothing_is(self, store: ChunkStore) -> None:
        a, b = indexed("a", ["amber", "basin"]), indexed("b", ["cedar"], [unit_vector(1)])
        await store.put_vectors(ORIGIN, [a, b])
        keys = [(key_of(b), 0, 0), (key_of(a), 1, 0), (key_of(a), 7, 0), (key_of(b), 0, 0)]
        found = await store.texts("t", keys)
        assert [f and f.text for f in found] == ["cedar", "basin", None, "cedar"]
        assert found[0] is not None
        assert found[1] is not None
        np.testing.assert_allclose(found[0].vector, unit_vector(1), atol=1e-6)
        assert found[1].vector is None

    async def test_text_survives_as_it_is(self, store: ChunkStore) -> None:
        text = 'line\nnul\x00 "quoted" \\ 漢字 \U0001f642 e\u0301 \u2028 end'
        message = indexed("a", [text])
        await store.insert_terms(ORIGIN, [message])
        (found,) = await store.texts("t", [(key_of(message), 0, 0)])
        assert found is not None
        assert found.text == text

    async def test_terms_never_replace_what_is_there(self, store: ChunkStore) -> None:
        before, after = indexed("a", ["amber"]), indexed("a", ["basin"])
        await store.insert_terms(ORIGIN, [before])
        await store.insert_terms(ORIGIN, [after])
        (found,) = await store.texts("t", [(key_of(before), 0, 0)])
        assert found is not None
        assert found.text == "amber"

    @pytest.mark.parametrize("order", ["terms first", "vectors first", "terms again"])
    async def test_either_order_ends_the_same(self, store: ChunkStore, order: str) -> None:
        message = indexed("a", ["amber basin", "cedar"], [unit_vector(1), unit_vector(2)])
        writes = {
            "terms first": [store.insert_terms, store.put_vectors],
            "vectors first": [store.put_vectors, store.insert_terms],
            "terms again": [store.insert_terms, store.put_vectors, store.insert_terms],
        }[order]
        for write in writes:
            await write(ORIGIN, [message])
        assert await store.coverage("t", [key_of(message)]) == Coverage(2, 2)
        assert await store.missing("t", [key_of(message)]) == set()
        found = await store.search(find([message], words("amber"), vector=2))
        assert names(found.by_terms) == [(key_of(message), 0, 0)]
        assert names(found.by_vector)[0] == (key_of(message), 1, 0)
        assert found.by_vector[0].score == pytest.approx(1.0, abs=1e-5)

    async def test_a_message_is_missing_until_its_marker_is_there(self, store: ChunkStore) -> None:
        full, empty, absent = indexed("a", ["amber"]), indexed("b"), indexed("c", ["cedar"])
        keys = [key_of(m) for m in (full, empty, absent)]
        assert await store.missing("t", keys) == set(keys)
        await store.insert_terms(ORIGIN, [full, empty])
        assert await store.missing("t", keys) == {key_of(absent)}
        assert await store.missing("t", keys[:2]) == set()
        assert await store.missing("t", keys[2:] * 2) == {key_of(absent)}
        assert await store.missing("other", keys) == set(keys)

    async def test_a_message_without_chunks_is_its_marker_alone(self, store: ChunkStore) -> None:
        empty = indexed("a")
        await store.put_vectors(ORIGIN, [empty])
        assert await store.chunks("t", [key_of(empty)]) == []
        assert await store.coverage("t", [key_of(empty)]) == Coverage(0, 0)
        assert await store.search(find([empty], words("amber"), vector=1)) == Found()

    async def test_coverage_counts_chunks_and_vectors(self, store: ChunkStore) -> None:
        a = indexed("a", ["amber", "basin"], [unit_vector(1), None])
        b = indexed("b", ["cedar"], [unit_vector(2)])
        await store.put_vectors(ORIGIN, [a, b])
        assert await store.coverage("t", [key_of(a)]) == Coverage(2, 1)
        assert await store.coverage("t", [key_of(a), key_of(b)]) == Coverage(3, 2)
        assert await store.coverage("other", [key_of(a)]) == Coverage(0, 0)

    async def test_nothing_asked_nothing_found(self, store: ChunkStore) -> None:
        await store.insert_terms(ORIGIN, [])
        await store.insert_terms(ORIGIN, [indexed("a", ["amber"])])
        assert await store.missing("t", []) == set()
        assert await store.coverage("t", []) == Coverage(0, 0)
        assert await store.search(find([], words("amber"), vector=1)) == Found()
        assert await store.search(find([indexed("a")])) == Found()
        assert await store.chunks("t", []) == []
        assert await store.texts("t", []) == []
        assert await store.vectors_by_digest("t", []) == {}

    async def test_a_text_without_terms_is_stored(self, store: ChunkStore) -> None:
        message = indexed("a", ["…"])
        assert message.terms[0].indices == ()
        await store.insert_terms(ORIGIN, [message])
        assert await store.coverage("t", [key_of(message)]) == Coverage(1, 0)

    async def test_ties_go_by_address_unit_and_part(self, store: ChunkStore) -> None:
        same = [indexed(f"m{n}", ["amber", "amber"], [unit_vector(1)] * 2) for n in range(20)]
        await store.put_vectors(ORIGIN, same)
        expected = sorted((key_of(m), unit, 0) for m in same for unit in (0, 1))
        for limit in (1, 7, 40):
            found = await store.search(find(same, words("amber"), vector=1, limit=limit))
            assert names(found.by_terms) == expected[:limit]
            assert names(found.by_vector) == expected[:limit]

    async def test_idf_is_taken_over_the_texts_of_the_request(self, store: ChunkStore) -> None:
        """A word that everyone uses decides where it is rare among the texts asked for."""
        asked = [indexed("a", ["amber basin"]), *(indexed(f"b{n}", ["basin cedar"]) for n in range(8))]
        others = [indexed(f"o{n}", ["amber delta"]) for n in range(50)]
        await store.insert_terms(ORIGIN, [*asked, *others])
        narrow = await store.search(find(asked, words("amber", "basin")))
        wide = await store.search(find([*asked, *others], words("amber"), limit=100))
        alone = await store.search(find(asked[:1], words("amber")))
        rare, common, only = narrow.by_terms[0], wide.by_terms[0], alone.by_terms[0]
        tf = asked[0].terms[0].values[0]
        assert names([rare]) == [(key_of(asked[0]), 0, 0)]
        # ln((N - n + 0.5) / (n + 0.5) + 1), n texts of N with the word
        idf_amber, idf_basin = np.log((9 - 1 + 0.5) / 1.5 + 1), np.log(0.5 / 9.5 + 1)
        assert rare.score == pytest.approx(tf * (idf_amber + idf_basin), rel=1e-4)
        assert common.score == pytest.approx(tf * np.log((59 - 51 + 0.5) / 51.5 + 1), rel=1e-4)
        assert only.score == pytest.approx(tf * np.log(0.5 / 1.5 + 1), rel=1e-4)

    async def test_vectors_by_digest(self, store: ChunkStore) -> None:
        """Many points of one digest do not hide another; texts without a vector are left out."""
        same = [indexed(f"m{n}", ["amber"], [unit_vector(1)]) for n in range(30)]
        other, bare = indexed("o", ["basin"], [unit_vector(2)]), indexed("b", ["cedar"])
        await store.put_vectors(ORIGIN, [*same, other, bare])
        digests = [m.chunks[0].digest for m in (same[0], other, bare)]
        found = await store.vectors_by_digest("t", digests)
        assert found.keys() == set(digests[:2])
        np.testing.assert_allclose(found[digests[0]], unit_vector(1), atol=1e-6)
        np.testing.assert_allclose(found[digests[1]], unit_vector(2), atol=1e-6)
        assert await store.vectors_by_digest("other", digests) == {}

    @pytest.mark.parametrize("seed", range(3))
    async def test_nothing_foreign_is_ever_returned(self, store: ChunkStore, seed: int) -> None:
        """Two tenants with the same texts and even the same addresses; every read asks for a part."""
        rng = random.Random(seed)
        messages = random_messages(rng, 40)
        for tenant in ("t", "u"):
            await store.put_vectors(Origin(tenant, "s", 1.0), messages[:30] if tenant == "t" else messages)
        for _ in range(10):
            asked = rng.sample(messages, rng.randint(1, 12))
            allowed = {(key_of(m), c.unit, 0): c.text for m in asked if m in messages[:30] for c in m.chunks}
            search = find(asked, words(*rng.sample(WORDS, 3)), vector=rng.randint(0, 9), limit=50)
            found = await store.search(search)
            assert set(names(found.by_terms)) <= allowed.keys()
            assert set(names(found.by_vector)) == allowed.keys()
            assert len(names(found.by_vector)) == len(allowed)
            chunks = await store.chunks("t", search.addresses)
            assert {(c.address, c.unit, c.part) for c in chunks} == allowed.keys()
            assert await store.missing("t", search.addresses) == {
                key_of(m) for m in asked if m not in messages[:30]
            }
            keys = [(key_of(m), c.unit, 0) for m in messages for c in m.chunks]
            texts = await store.texts("nobody", keys)
            assert texts == [None] * len(keys)


class DurableContract(CopyingContract, ChunkStoreContract):
    """Of stores that keep what they hold when they are closed. `open` is called once per opening."""

    async def open(self, dim: int = DIM) -> ChunkStore:
        raise NotImplementedError

    @pytest.fixture
    async def store(self) -> AsyncIterator[ChunkStore]:
        store = await self.open()
        await store.ensure()
        yield store
        await store.close()

    async def test_ensure_can_be_called_again(self, store: ChunkStore) -> None:
        message = indexed("a", ["amber"])
        await store.insert_terms(ORIGIN, [message])
        await store.ensure()
        assert await store.missing("t", [key_of(message)]) == set()

    async def test_has_one_identity_for_as_long_as_it_exists(self, store: ChunkStore) -> None:
        before = await store.identity("t")
        await store.close()
        again = await self.open()
        await again.ensure()
        assert await again.identity("t") == before
        assert await again.missing("", []) == set()
        await again.close()

    async def test_opens_on_what_is_there(self, store: ChunkStore) -> None:
        message = indexed("a", ["amber"], [unit_vector(1)])
        await store.put_vectors(ORIGIN, [message])
        await store.close()
        again = await self.open()
        await again.ensure()
        assert await again.coverage("t", [key_of(message)]) == Coverage(1, 1)
        found = await again.search(find([message], words("amber"), vector=1))
        assert len(found.by_terms) == len(found.by_vector) == 1
        await again.close()

    async def test_another_dimension_is_refused_with_both_numbers(self, store: ChunkStore) -> None:
        await store.close()
        other = await self.open(dim=DIM + 5)
        with pytest.raises(PermanentFault, match=rf"\b{DIM}\b.*\b{DIM + 5}\b"):
            await other.ensure()
        await other.close()

    async def test_a_vector_of_another_dimension_is_refused(self, store: ChunkStore) -> None:
        message = indexed("a", ["amber"], [unit_vector(1, DIM + 1)])
        with pytest.raises(PermanentFault, match=rf"{DIM + 1}.*{DIM}"):
            await store.put_vectors(ORIGIN, [message])
        assert await store.missing("t", [key_of(message)]) == {key_of(message)}

    async def test_no_vector_never_replaces_a_vector(self, store: ChunkStore) -> None:
        await store.put_vectors(ORIGIN, [indexed("a", ["amber"], [unit_vector(1)])])
        given_up = indexed("a", ["amber"], [None])
        await store.put_vectors(ORIGIN, [given_up])
        assert await store.coverage("t", [key_of(given_up)]) == Coverage(1, 1)


class TestEdge(DurableContract):
    @pytest.fixture(autouse=True)
    def _directory(self, tmp_path: Path) -> None:
        self.directory = tmp_path

    async def open(self, dim: int = DIM) -> ChunkStore:
        return EdgeStore(self.directory, "chunks", dim)


@local_mode
class TestServerInLocalMode(DurableContract):
    @pytest.fixture(autouse=True)
    def _directory(self, tmp_path: Path) -> None:
        self.directory = tmp_path

    async def open(self, dim: int = DIM) -> ChunkStore:
        return ServerStore(AsyncQdrantClient(path=str(self.directory)), "chunks", dim)


class TestServerOverHttp(DurableContract):
    url: ClassVar[str]

    @pytest.fixture(autouse=True)
    def _server(self, tmp_path: Path) -> Iterator[None]:
        with serve_qdrant(tmp_path) as (url, _):
            type(self).url = url
            yield

    async def open(self, dim: int = DIM) -> ChunkStore:
        return ServerStore(AsyncQdrantClient(url=self.url, check_compatibility=False), "chunks", dim)


class TestInMemory(ChunkStoreContract):
    @pytest.fixture
    async def store(self) -> ChunkStore:
        return MemoryStore()


@local_mode
async def test_all_stores_answer_alike(tmp_path: Path) -> None:
    """The same random messages and searches: the same chunks in the same order, scores within 1e-4."""
    rng = random.Random(7)
    messages = random_messages(rng, 120)
    async with AsyncExitStack() as closing:
        url, _ = closing.enter_context(serve_qdrant(tmp_path / "server"))
        stores: list[ChunkStore] = [
            EdgeStore(tmp_path / "edge", "chunks", DIM),
            ServerStore(AsyncQdrantClient(location=":memory:"), "chunks", DIM),
            ServerStore(AsyncQdrantClient(url=url, check_compatibility=False), "chunks", DIM),
            MemoryStore(),
        ]
        for store in stores:
            closing.push_async_callback(store.close)
            await store.ensure()
            await store.insert_terms(ORIGIN, [replace(m, vectors=()) for m in messages[:80]])
            await store.put_vectors(ORIGIN, messages[40:])
        for _ in range(25):
            asked = rng.sample(messages, rng.randint(1, 100))
            search = find(asked, words(*rng.sample(WORDS, 3)), vector=rng.randint(0, 99), limit=20)
            first, *others = [await store.search(search) for store in stores]
            for other in others:
                assert_alike(first.by_terms, other.by_terms)
                assert_alike(first.by_vector, other.by_vector)
            coverages = {await store.coverage("t", search.addresses) for store in stores}
            assert len(coverages) == 1


def assert_alike(one: list[Hit], other: list[Hit]) -> None:
    """Arithmetic differs in the last bits, so near-equal scores may stand in another order or at the end."""
    assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other], abs=1e-4)
    if not one:
        return
    last = one[-1].score + 1e-4
    scores = {hit.chunk: hit.score for hit in one if hit.score > last}
    assert scores.keys() == {hit.chunk for hit in other if hit.score > last}
    assert [hit.score for hit in other if hit.score > last] == pytest.approx(
        [scores[hit.chunk] for hit in other if hit.score > last], abs=1e-4
    )
