import math
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from starlette.responses import JSONResponse, Response

from shared.errors import DependencyUnavailable
from shared.models.rerank_http import HttpReranker
from shared.models.rerank_shapes import PROBE_ANSWER, PROBE_QUERY, Scale, jina_body, scale_of, tei_body
from tests.support.model_server import ModelServer, raw, says, serving

LOGITS = {PROBE_ANSWER: 5.26, "hi": -8.19, "yes": 2.0, "no": -3.0, "middling": 0.4}


def logit(text: str) -> float:
    return LOGITS.get(text, -5.0)


def sigmoid(text: str) -> float:
    return 1 / (1 + math.exp(-logit(text)))


def jina(scored: Callable[[str], float]) -> Callable[[dict[str, Any]], Response]:
    def answer(body: dict[str, Any]) -> Response:
        if "documents" not in body:
            return JSONResponse({"detail": [{"msg": "Field required"}]}, 422)
        results = [{"index": i, "relevance_score": scored(text)} for i, text in enumerate(body["documents"])]
        return JSONResponse({"results": sorted(results, key=lambda r: -r["relevance_score"])})

    return answer


def tei(body: dict[str, Any]) -> Response:
    if "texts" not in body:
        return JSONResponse({"error": "missing field `texts`", "error_type": "Validation"}, 422)
    if len(body["texts"]) > 4:
        said = f"batch size {len(body['texts'])} > maximum allowed batch size 4"
        return JSONResponse({"error": said, "error_type": "Validation"}, 422)
    return JSONResponse([{"index": i, "score": sigmoid(text)} for i, text in enumerate(body["texts"])][::-1])


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def shared_server() -> Iterator[ModelServer]:
    with serving(ModelServer(jina(sigmoid))) as server:
        yield server


@pytest.fixture
def server(shared_server: ModelServer) -> ModelServer:
    shared_server.reset(jina(sigmoid))
    return shared_server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def reranker(server: ModelServer, clock: Clock) -> AsyncIterator[HttpReranker]:
    made = HttpReranker(server.url + "/v1", "m", timeout_s=5, threshold=0.3, cache_ttl_s=60, clock=clock)
    yield made
    await made.close()


@pytest.mark.parametrize("server_form", [jina(sigmoid), jina(logit), tei], ids=["jina", "logits", "tei"])
async def test_every_form_and_scale_gives_the_same_scores(
    server: ModelServer, reranker: HttpReranker, server_form: Callable[[dict[str, Any]], Response]
) -> None:
    server.always = server_form
    relevance = await reranker.score("t", "q", ["no", "yes", "middling"])
    assert relevance.scores == pytest.approx((sigmoid("no"), sigmoid("yes"), sigmoid("middling")))
    assert (relevance.threshold, reranker.ranks) == (0.3, True)
    assert server.paths[0] == "/v1/rerank"


async def test_logits_that_all_lie_between_0_and_1_are_still_logits(
    server: ModelServer, reranker: HttpReranker
) -> None:
    server.always = jina(logit)
    assert (await reranker.score("t", "q", ["middling"])).scores == pytest.approx((1 / (1 + math.exp(-0.4)),))


def test_the_scale_is_judged_by_the_known_pairs() -> None:
    assert scale_of(-8.19, 5.26) is Scale.LOGIT
    assert scale_of(0.00028, 0.995) is Scale.SIGMOID
    assert scale_of(-2.0, 0.9) is Scale.LOGIT
    with pytest.raises(DependencyUnavailable):
        scale_of(0.5, 0.5)


async def test_the_known_pairs_are_asked_once(server: ModelServer, reranker: HttpReranker) -> None:
    await reranker.score("t", "q", ["yes"])
    await reranker.score("t", "q", ["no"])
    assert [body["query"] for body in server.bodies] == [PROBE_QUERY, "q", "q"]


async def test_a_pair_is_scored_once_until_it_is_too_old(
    server: ModelServer, reranker: HttpReranker, clock: Clock
) -> None:
    await reranker.score("t", "q", ["yes", "no", "yes"])
    assert server.bodies[-1]["documents"] == ["yes", "no"]
    await reranker.score("t", "q", ["no", "yes", "middling"])
    assert server.bodies[-1]["documents"] == ["middling"]
    await reranker.score("t", "another", ["yes"])
    assert server.bodies[-1]["query"] == "another"
    asked = len(server.bodies)
    await reranker.score("another tenant", "q", ["yes", "no"])
    assert server.bodies[asked:] == [jina_body("m", "q", ["yes", "no"])]
    clock.now = 60
    await reranker.score("t", "q", ["yes"])
    assert server.bodies[-1] == jina_body("m", "q", ["yes"])


async def test_a_smaller_batch_is_learnt(server: ModelServer, reranker: HttpReranker) -> None:
    server.always = tei
    texts = [f"text {n}" for n in range(10)]
    assert len((await reranker.score("t", "q", texts)).scores) == 10
    assert [len(body["texts"]) for body in server.bodies[-3:]] == [4, 4, 2]


async def test_one_oversized_text_does_not_take_the_others_along(
    server: ModelServer, reranker: HttpReranker
) -> None:
    def limited(body: dict[str, Any]) -> Response:
        if any(len(text) > 150 for text in body["documents"]):
            return JSONResponse({"error": {"message": "input is too large to process."}}, 500)
        return jina(lambda text: 0.9 if "gold" in text else 0.1)(body)

    server.always = limited
    server.script.append(jina(sigmoid))
    texts = [f"text {n}" for n in range(7)]
    texts.insert(3, "x" * 300 + " gold " + "x" * 300)
    scores = (await reranker.score("t", "q", texts)).scores
    assert scores == pytest.approx((*[0.1] * 3, 0.9, *[0.1] * 4))


@pytest.mark.parametrize(
    "results",
    [
        [],
        [{"index": 0, "relevance_score": None}],
        [{"index": 0}],
        [{"index": 1, "relevance_score": 0.5}],
        [{"index": 0, "relevance_score": 0.5}, {"index": 0, "relevance_score": 0.5}],
        [{"index": 0, "relevance_score": "high"}],
        None,
        [{"index": 0, "relevance_score": 3.7}],
    ],
)
async def test_a_bad_score_is_never_let_through(
    server: ModelServer, reranker: HttpReranker, results: Any
) -> None:
    await reranker.calibrate()
    server.script.append(says(200, {"results": results}))
    with pytest.raises(DependencyUnavailable) as caught:
        await reranker.score("t", "q", ["yes"])
    assert caught.value.part == "rerank_unavailable"


async def test_nan_is_refused(server: ModelServer, reranker: HttpReranker) -> None:
    server.script.append(raw(200, b'{"results":[{"index":0,"relevance_score":NaN}]}'))
    with pytest.raises(DependencyUnavailable):
        await reranker.score("t", "q", ["yes"])


async def test_a_server_that_was_down_at_start_is_asked_again(
    server: ModelServer, reranker: HttpReranker
) -> None:
    server.script.append(says(503, {"error": "loading"}))
    with pytest.raises(DependencyUnavailable):
        await reranker.calibrate()
    assert (await reranker.score("t", "q", ["yes"])).scores == pytest.approx((sigmoid("yes"),))


async def test_a_server_replaced_by_one_of_another_form_is_calibrated_anew(
    server: ModelServer, reranker: HttpReranker
) -> None:
    await reranker.calibrate()
    for other in (tei, jina(logit)):
        server.always = other
        with pytest.raises(DependencyUnavailable):
            await reranker.score("t", str(other), ["yes", "no"])
        assert (await reranker.score("t", str(other), ["yes", "no"])).scores == pytest.approx(
            (sigmoid("yes"), sigmoid("no"))
        )


async def test_a_server_of_no_known_form_says_so(server: ModelServer, reranker: HttpReranker) -> None:
    server.always = says(400, {"error": {"message": "unknown field"}})
    with pytest.raises(DependencyUnavailable, match="unknown field"):
        await reranker.score("t", "q", ["yes"])
    assert server.bodies[0].keys() == {"model", "query", "documents"}
    assert server.bodies[1].keys() == tei_body("", "", []).keys()


async def test_a_server_that_cannot_tell_is_not_used(server: ModelServer, reranker: HttpReranker) -> None:
    server.always = jina(lambda _: 0.5)
    with pytest.raises(DependencyUnavailable, match="scores an answer"):
        await reranker.score("t", "q", ["yes"])


async def test_nothing_to_score_asks_nothing(server: ModelServer, reranker: HttpReranker) -> None:
    assert (await reranker.score("t", "q", [])).scores == ()
    assert server.bodies == []
