from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import numpy as np
import pytest

from shared.errors import BadAnswer, DependencyUnavailable, PermanentFault, TextTooLarge
from shared.models.embed_http import HttpEmbedder
from tests.support.model_server import ModelServer, breaks_off, embeds, raw, says, serving, silent


@pytest.fixture(scope="module")
def shared_server() -> Iterator[ModelServer]:
    with serving(ModelServer(embeds)) as server:
        yield server


@pytest.fixture
def server(shared_server: ModelServer) -> ModelServer:
    shared_server.reset(embeds)
    return shared_server


@pytest.fixture
async def embedder(server: ModelServer) -> AsyncIterator[Callable[..., HttpEmbedder]]:
    made = []

    def make(path: str = "/v1", timeout_s: float = 5, query_prefix: str = "") -> HttpEmbedder:
        url = server.url + path
        made.append(HttpEmbedder(url, "bge-m3", 4, batch=8, timeout_s=timeout_s, query_prefix=query_prefix))
        return made[-1]

    yield make
    for e in made:
        await e.close()


Make = Callable[..., HttpEmbedder]


def item(embedding: Any, index: int = 0) -> dict[str, Any]:
    return {"index": index, "embedding": embedding}


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/v1", "/v1/embeddings"),
        ("/v1/", "/v1/embeddings"),
        ("/embeddings", "/embeddings"),
        ("", "/embeddings"),
    ],
)
async def test_base_or_endpoint_may_be_given(
    server: ModelServer, embedder: Make, path: str, asked: str
) -> None:
    e = embedder(path)
    await e.passages(["a"])
    assert server.paths == [asked]


async def test_vectors_come_in_the_order_asked_and_have_length_one(
    server: ModelServer, embedder: Make
) -> None:
    e = embedder()
    vectors = await e.passages(["x" * n for n in range(1, 21)])
    for n, vector in enumerate(vectors, 1):
        assert vector == pytest.approx(np.array([n, 1, 1, 1]) / np.linalg.norm([n, 1, 1, 1]), abs=1e-6)
        assert vector.dtype == np.float32
    assert [len(body["input"]) for body in server.bodies] == [8, 8, 4]
    assert server.bodies[0]["model"] == "bge-m3"


async def test_only_a_query_gets_the_prefix(server: ModelServer, embedder: Make) -> None:
    e = embedder(query_prefix="query: ")
    await e.query("why")
    await e.passages(["why"])
    assert [body["input"] for body in server.bodies] == [["query: why"], ["why"]]


async def test_the_bare_list_of_llama_cpp_is_understood(server: ModelServer, embedder: Make) -> None:
    server.script.append(says(200, [item([[0, 0, 0, 2.0]], 1), item([[3.0, 0, 0, 0]], 0)]))
    e = embedder()
    first, second = await e.passages(["a", "b"])
    assert first.tolist() == [1, 0, 0, 0]
    assert second.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    "data",
    [
        [item([None] * 4)],
        [item([1, None, 1, 1])],
        [item(None)],
        [None],
        [item([0.0] * 4)],
        [item([1.0] * 5)],
        [item([])],
        [item([[1.0, 1, 1, 1], [1.0, 1, 1, 1]])],
        [item(["a", "b", "c", "d"])],
        [item("AACAPwAAgD8=")],
        [],
        [item([1.0] * 4), item([1.0] * 4, 1)],
        [item([1.0] * 4, 7)],
        "no list",
    ],
)
async def test_a_bad_vector_is_never_let_through(server: ModelServer, embedder: Make, data: Any) -> None:
    server.script.append(says(200, {"data": data}))
    e = embedder()
    with pytest.raises(BadAnswer) as caught:
        await e.passages(["a"])
    assert caught.value.part == "embed_unavailable"


async def test_two_items_with_one_index_are_refused(server: ModelServer, embedder: Make) -> None:
    server.script.append(says(200, {"data": [item([1.0] * 4), item([2.0] * 4)]}))
    e = embedder()
    with pytest.raises(DependencyUnavailable, match="indices"):
        await e.passages(["a", "b"])


async def test_a_wrong_dimension_names_both_numbers(server: ModelServer, embedder: Make) -> None:
    server.script.append(says(200, {"data": [item([1.0] * 768)]}))
    e = embedder()
    with pytest.raises(DependencyUnavailable, match=r"768 dimensions, not 4"):
        await e.passages(["a"])


async def test_nan_in_the_body_is_refused(server: ModelServer, embedder: Make) -> None:
    server.script.append(raw(200, b'{"data":[{"index":0,"embedding":[NaN,1,1,1]}]}'))
    e = embedder()
    with pytest.raises(DependencyUnavailable):
        await e.passages(["a"])


@pytest.mark.parametrize("status", [429, 500, 503, 401, 404])
async def test_what_passes_by_itself_is_retryable(server: ModelServer, embedder: Make, status: int) -> None:
    server.script.append(says(status, {"error": {"message": "not now"}}))
    e = embedder()
    with pytest.raises(DependencyUnavailable, match="not now"):
        await e.passages(["a"])
    assert len(server.bodies) == 1


async def test_a_silent_server_is_given_up_in_time(server: ModelServer, embedder: Make) -> None:
    server.script.append(silent(1))
    e = embedder(timeout_s=0.1)
    with pytest.raises(DependencyUnavailable, match=r"within 0.1 s"):
        await e.passages(["a"])


async def test_a_server_that_is_not_there_is_retryable() -> None:
    e = HttpEmbedder("http://127.0.0.1:9", "m", 4, batch=8, timeout_s=5)
    with pytest.raises(DependencyUnavailable):
        await e.query("a")
    await e.close()


async def test_a_broken_connection_is_tried_once_more(server: ModelServer, embedder: Make) -> None:
    server.script.append(breaks_off)
    e = embedder()
    assert len(await e.passages(["a"])) == 1
    assert len(server.bodies) == 2
    server.script.extend([breaks_off, breaks_off])
    with pytest.raises(DependencyUnavailable):
        await e.passages(["a"])


async def test_too_large_and_refused_are_told_apart(server: ModelServer, embedder: Make) -> None:
    server.script.append(says(500, {"error": {"message": "input is too large to process."}}))
    server.script.append(says(400, {"error": {"message": "'$.input' is invalid"}}))
    e = embedder()
    with pytest.raises(TextTooLarge):
        await e.passages(["a"])
    with pytest.raises(PermanentFault, match="is invalid"):
        await e.passages(["a"])


@pytest.mark.parametrize(("names_it", "sizes"), [(True, [8, 3, 3, 3, 1]), (False, [8, 4, 2, 2, 2, 2, 2])])
async def test_the_batch_size_is_learnt_once(
    server: ModelServer, embedder: Make, names_it: bool, sizes: list[int]
) -> None:
    def at_most_three(body: dict[str, Any]) -> Any:
        n = len(body["input"])
        if n > 3:
            said = f"batch size {n} > maximum allowed batch size 3" if names_it else "batch size is invalid"
            return says(422, {"error": said})(body)
        return embeds(body)

    server.always = at_most_three
    e = embedder()
    assert len(await e.passages(["x" * n for n in range(1, 11)])) == 10
    assert [len(body["input"]) for body in server.bodies] == sizes
    server.bodies.clear()
    await e.passages(["a"] * 6)
    assert max(len(body["input"]) for body in server.bodies) == e.batch <= 3


async def test_a_server_that_takes_no_batch_at_all_does_not_loop(server: ModelServer, embedder: Make) -> None:
    server.always = says(422, {"error": "batch size 1 > maximum allowed batch size 0"})
    e = embedder()
    with pytest.raises(DependencyUnavailable):
        await e.passages(["a", "b"])


async def test_a_lone_surrogate_is_sent_as_something_valid(server: ModelServer, embedder: Make) -> None:
    e = embedder()
    await e.passages(["half \ud83d"])
    assert server.bodies[0]["input"] == ["half ?"]
