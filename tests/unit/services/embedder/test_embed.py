from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from starlette.responses import JSONResponse, Response

from services.embedder.batch import Text
from services.embedder.embed import BAD_ANSWERS, KNOWN_GOOD, Embedding
from shared.conversation.address import text_digest
from shared.errors import BadAnswer, DependencyUnavailable, PermanentFault, TextTooLarge
from shared.models.embed_http import HttpEmbedder
from shared.models.port import Vector
from tests.support.hashing import HashingEmbedder, hashed
from tests.support.model_server import ModelServer, embeds, serving

Fault = Callable[[str], Exception | None]


class FaultyEmbedder(HashingEmbedder):
    """Fails a whole call for the first of its texts that has a fault, as servers do."""

    def __init__(self, fault: Fault) -> None:
        super().__init__()
        self.fault = fault
        self.calls: list[list[str]] = []

    async def passages(self, texts: Any) -> list[Vector]:
        self.calls.append(list(texts))
        for text in texts:
            if error := self.fault(text):
                raise error
        return await super().passages(texts)


def embedding(fault: Fault, stopping: bool = False) -> tuple[Embedding, FaultyEmbedder]:
    embedder = FaultyEmbedder(fault)
    return Embedding(embedder, lambda: stopping), embedder


def text(content: str, tokens: int = 10) -> Text:
    return Text(text_digest(content), content, tokens)


GOOD = [text(f"good text {n}") for n in range(49)]


async def test_one_refused_text_among_fifty_is_found_alone() -> None:
    bad = text("bad")
    made, _ = embedding(lambda t: PermanentFault("no such character") if t == "bad" else None)
    await made.embed([*GOOD[:20], bad, *GOOD[20:]])
    assert made.faulty == {bad.digest: "no such character"}
    assert made.vectors.keys() == {good.digest for good in GOOD}
    for good in GOOD:
        assert np.array_equal(made.vectors[good.digest], hashed(good.text))


async def test_a_text_that_is_too_large_is_embedded_in_pieces() -> None:
    sentence = "The quick brown fox jumps over the lazy dog. "
    large = text(sentence * 40)
    made, embedder = embedding(lambda t: TextTooLarge("too large") if len(t) > 500 else None)
    await made.embed([*GOOD, large])
    assert made.faulty == {}
    assert made.vectors[large.digest] @ hashed(sentence) > 0.9
    assert np.linalg.norm(made.vectors[large.digest]) == pytest.approx(1, abs=1e-5)
    pieces = [t for t in embedder.embedded if t.strip() in large.text and len(t) > 200]
    assert "".join(pieces) == large.text


@pytest.mark.parametrize("content", ["x", "data:image/png;base64," + "iVBORw0KGgo" * 400])
async def test_what_is_too_large_and_cannot_be_cut_is_given_up(content: str) -> None:
    made, _ = embedding(lambda t: None if t == KNOWN_GOOD else TextTooLarge("too large"))
    await made.embed([text(content)])
    assert "cannot be cut" in made.faulty[text_digest(content)]


async def test_a_server_that_refuses_everything_is_no_reason_to_give_a_text_up() -> None:
    made, _ = embedding(lambda _: PermanentFault("unknown model"))
    with pytest.raises(DependencyUnavailable, match="refuses any text: unknown model"):
        await made.embed(GOOD)
    assert (made.vectors, made.faulty) == ({}, {})


async def test_what_was_embedded_before_a_failure_is_not_embedded_again() -> None:
    down = True
    made, embedder = embedding(
        lambda t: DependencyUnavailable("embed_unavailable", "down") if down and t == GOOD[40].text else None
    )
    with pytest.raises(DependencyUnavailable):
        await made.embed(GOOD)
    assert 0 < len(embedder.embedded) < 49
    down = False
    await made.embed(GOOD)
    assert sorted(embedder.embedded) == sorted(good.text for good in GOOD)


async def test_a_text_without_a_usable_vector_is_held_then_given_up_alone() -> None:
    bad = text("bad")
    made, embedder = embedding(lambda t: BadAnswer("embed_unavailable", "holds NaN") if t == "bad" else None)
    for _ in range(BAD_ANSWERS - 1):
        with pytest.raises(DependencyUnavailable, match="NaN"):
            await made.embed([*GOOD, bad])
        assert made.faulty == {}
    await made.embed([*GOOD, bad])
    assert made.faulty == {bad.digest: "holds NaN"}
    embedded = [t for t in embedder.embedded if t != KNOWN_GOOD]
    assert sorted(embedded) == sorted(good.text for good in GOOD)


async def test_a_server_that_answers_nothing_usable_at_all_is_only_held() -> None:
    made, _ = embedding(lambda _: BadAnswer("embed_unavailable", "nulls"))
    for _ in range(BAD_ANSWERS + 3):
        with pytest.raises(BadAnswer):
            await made.embed(GOOD)
    assert (made.vectors, made.faulty) == ({}, {})


async def test_a_piece_without_a_usable_vector_does_not_hold_for_ever() -> None:
    def fault(t: str) -> Exception | None:
        if len(t) > 500:
            return TextTooLarge("too large")
        return BadAnswer("embed_unavailable", "NaN") if "poison" in t else None

    large = text("a sentence with poison in it. " * 30)
    made, _ = embedding(fault)
    for _ in range(BAD_ANSWERS - 1):
        with pytest.raises(DependencyUnavailable):
            await made.embed([large])
    await made.embed([large])
    assert made.faulty == {large.digest: "NaN"}


async def test_calls_are_bounded_by_count_and_tokens() -> None:
    made, embedder = embedding(lambda _: None)
    await made.embed([text(f"long {n}", tokens=300) for n in range(7)] + GOOD)
    assert [len(call) for call in embedder.calls[:3]] == [3, 3, 16]
    assert max(map(len, embedder.calls)) == 16


async def test_a_stopping_service_hands_the_rest_back() -> None:
    made, embedder = embedding(lambda _: None, stopping=True)
    with pytest.raises(DependencyUnavailable, match="stopping"):
        await made.embed(GOOD)
    assert embedder.calls == []


async def test_over_http_49_passages_and_one_of_16k_tokens() -> None:
    def strict(body: dict[str, Any]) -> Response:
        longest = max(map(len, body["input"]))
        if longest > 8192 * 4:
            said = f"`inputs` must have less than 8192 tokens. Given: {longest // 4}"
            return JSONResponse({"error": f"Input validation error: {said}", "error_type": "Validation"}, 413)
        return embeds(body)

    large = text("one line of a log, of some length\n" * 2000)
    with serving(ModelServer(strict)) as server:
        embedder = HttpEmbedder(server.url, "m", 4, batch=16, timeout_s=10)
        made = Embedding(embedder, lambda: False)
        await made.embed([*GOOD[:7], large, *GOOD[7:]])
        await embedder.close()
    assert len(made.vectors) == 50
    assert made.faulty == {}
