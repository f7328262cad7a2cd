from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backscroll.engine.validate import validate_messages
from evals.baselines.bm25 import BM25
from evals.baselines.order import by_ranks, by_score, newest
from evals.baselines.prompt import baseline_prompt
from evals.baselines.ranker import Ranker
from evals.baselines.units import WHOLE_CHARS, units_of
from evals.capture import rendered
from evals.case import Case, Piece, Question
from evals.embeddings import EmbeddingCache

FACTS = ("The ferry to Aran leaves at nine.", "Quartz is harder than glass.", "The ferry was late again.")


def chat(count: int) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [
        {"role": roles[n % 2], "content": f"Remark {n} is about subject {n * 7919 % 997}."}
        for n in range(count)
    ]


def test_bm25_prefers_rare_words() -> None:
    scores = BM25(FACTS).scores("When does the ferry to Aran leave?", 3)
    assert by_score(scores).tolist()[:2] == [0, 2]
    assert scores[1] == 0


def test_bm25_knows_nothing_of_what_comes_after() -> None:
    history, prefix = BM25(FACTS), BM25(FACTS[:2])
    assert np.array_equal(history.scores("ferry glass", 2), prefix.scores("ferry glass", 2))


def test_equal_scores_take_the_newer_first() -> None:
    assert by_score(np.zeros(3)).tolist() == [2, 1, 0] == newest(3).tolist()


def test_rank_fusion_prefers_what_both_rank_high() -> None:
    assert by_ranks(np.array([0, 1, 2, 3]), np.array([3, 1, 2, 0])).tolist()[-1] == 2


def test_a_long_message_is_split_and_loses_nothing() -> None:
    text = "A sentence of some length that is said again. " * 200
    units = units_of([{"role": "user", "content": text}, {"role": "system", "content": "Be brief."}])
    assert len(text) > WHOLE_CHARS
    assert len(units) > 1
    assert "".join(unit.text for unit in units) == text


@settings(deadline=None)
@given(st.integers(2, 60), st.integers(60, 600), st.randoms(use_true_random=False))
def test_a_prompt_keeps_to_its_budget_and_to_the_order(count: int, budget: int, rng: Any) -> None:
    messages = [*chat(count), {"role": "user", "content": "Well?"}]
    units = units_of(messages[:-1])
    order = list(range(len(units)))
    rng.shuffle(order)
    made = baseline_prompt(messages, units, order, budget)
    assert len(rendered(made)) <= budget
    assert validate_messages(made) == []
    assert made[-1] == messages[-1]
    text = "\n".join(m["content"] for m in made)
    places = [text.find(m["content"]) for m in messages]
    shown = [place for place in places if place >= 0]
    assert shown == sorted(shown)


def test_a_prompt_is_filled() -> None:
    messages = [*chat(200), {"role": "user", "content": "Well?"}]
    units = units_of(messages[:-1])
    made = baseline_prompt(messages, units, range(len(units)), 1000)
    assert 900 < len(rendered(made)) <= 1000


def test_no_result_stands_without_its_call() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    step = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "nothing " * 30},
    ]
    messages = [
        {"role": "user", "content": "Look."},
        *step,
        *chat(3)[1:],
        {"role": "user", "content": "And?"},
    ]
    for budget in range(40, 400, 8):
        assert validate_messages(baseline_prompt(messages, units_of(messages[:-1]), [], budget, 1.0)) == []


@pytest.mark.parametrize("method", ["window", "bm25"])
async def test_a_ranker_orders_what_stands_before_the_question(method: Any) -> None:
    case = Case("c", [Piece(str(n), text) for n, text in enumerate(FACTS)])
    ranker = Ranker(case)
    await ranker.prepare(method, None)
    question = Question("q", "When does the ferry to Aran leave?", frozenset({"0"}), after=2)
    order = (await ranker.order(method, question, None)).tolist()
    assert order == {"window": [1, 0], "bm25": [0, 1]}[method]


def test_a_run_of_results_alone_is_a_valid_prompt() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    step = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "nothing"},
    ]
    messages = [{"role": "user", "content": "Look. " * 100}, *step * 20]
    for share in (0.25, 1.0):
        made = baseline_prompt(messages, units_of(messages), [], 200, share)
        assert validate_messages(made) == []
        assert len(rendered(made)) <= 200


async def test_a_long_unit_is_as_near_as_its_nearest_passage(tmp_path: Path) -> None:
    filler = "Nothing happens in this sentence, and it goes on for a while. " * 30
    case = Case("c", [Piece("0", f"{filler}{FACTS[0]} {filler}"), Piece("1", FACTS[1]), Piece("2", filler)])
    cache = EmbeddingCache(tmp_path / "vectors.db")
    try:
        ranker = Ranker(case)
        await ranker.prepare("dense", cache)
        order = await ranker.order("dense", Question("q", FACTS[0], frozenset({"0"})), cache)
    finally:
        await cache.close()
    assert len(ranker.units[0].passages) > 1
    assert order.tolist()[0] == 0
