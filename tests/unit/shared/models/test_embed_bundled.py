import asyncio
import threading
from collections.abc import AsyncIterator

import numpy as np
import pytest

from shared.errors import DependencyUnavailable
from shared.models.embed_bundled import BundledEmbedder


@pytest.fixture
async def bundled() -> AsyncIterator[BundledEmbedder]:
    embedder = BundledEmbedder()
    yield embedder
    await embedder.close()


async def test_a_question_is_nearest_to_its_answer_in_both_languages(bundled: BundledEmbedder) -> None:
    texts = ["The cat is called Mochi.", "The invoice is due on Friday.", "这只猫叫年糕。"]
    vectors = await bundled.passages(texts)
    for question in ("what is the name of the cat?", "猫叫什么名字？"):
        scores = [float(vector @ await bundled.query(question)) for vector in vectors]
        assert min(scores[0], scores[2]) > scores[1]
    assert {vector.shape for vector in vectors} == {(bundled.dim,)}


async def test_a_vector_does_not_depend_on_its_neighbours(bundled: BundledEmbedder) -> None:
    texts = [f"note {n} " * (n + 1) for n in range(5)]
    together = await bundled.passages(texts)
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(vector, (await bundled.passages([text]))[0])


@pytest.mark.parametrize("text", ["", " ", "half \ud83d", "👩‍👩‍👧‍👦" * 30])
async def test_odd_texts_have_a_vector(bundled: BundledEmbedder, text: str) -> None:
    (vector,) = await bundled.passages([text])
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


async def test_a_nul_does_not_end_a_text(bundled: BundledEmbedder) -> None:
    cut, whole = await bundled.passages(["a", "a\0 fox"])
    assert not np.allclose(cut, whole)


async def test_a_query_goes_before_the_batches_that_wait(
    bundled: BundledEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    go = threading.Event()

    def encode(texts: list[str], is_query: bool) -> object:
        go.wait(5)
        asked.extend(texts)
        return np.ones((len(texts), bundled.dim), dtype=np.float32)

    monkeypatch.setattr(bundled._model, "encode", encode)
    batch = asyncio.create_task(bundled.passages(["x" * 1500, "y" * 1500, "z" * 1500]))
    await asyncio.sleep(0.05)
    given_up = asyncio.create_task(bundled.query("too late"))
    query = asyncio.create_task(bundled.query("q"))
    await asyncio.sleep(0.05)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    go.set()
    await asyncio.gather(batch, query)
    assert [text[0] for text in asked] == ["x", "q", "y", "z"]


async def test_nan_from_the_engine_is_refused(
    bundled: BundledEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled._model, "encode", lambda *_, **__: np.full((1, bundled.dim), np.nan))
    with pytest.raises(DependencyUnavailable):
        await bundled.query("q")
