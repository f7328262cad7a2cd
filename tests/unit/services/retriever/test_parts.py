"""The small decisions: hop, neighbours, repetition, lifting, score."""

import numpy as np
import pytest

from services.retriever.expand import neighbours
from services.retriever.hop import telling_terms
from services.retriever.interleave import interleave
from services.retriever.lift import lifted
from services.retriever.near import near_duplicates
from services.retriever.rank import whole
from services.retriever.score import Weights, recency, role_weight, score
from tests.unit.services.retriever.support import Talk


def test_the_hop_takes_what_the_best_hits_share_and_others_lack() -> None:
    best = ["falcon lead marisol project", "marisol week project"]
    others = ["project week granite", "project week orchid", "week granite"]
    terms = telling_terms(best, others, {"falcon": 1.0, "lead": 1.0}, 0.25)
    assert list(terms) == ["marisol", "project", "week"]
    assert set(terms.values()) == {0.25}


def test_the_hop_takes_six_terms_and_equal_ones_as_they_come() -> None:
    best = ["juniper kestrel lantern nimbus", "onyx quartz topaz zircon"]
    assert list(telling_terms(best, [], {}, 0.5)) == [
        "junip",
        "kestrel",
        "lantern",
        "nimbus",
        "onyx",
        "quartz",
    ]
    assert telling_terms([], ["basalt"], {}, 0.5) == {}


def test_two_orders_share_the_tokens() -> None:
    tokens = np.array([100, 100, 100, 100, 100, 100, 100, 100])
    assert interleave([0, 1, 2, 3, 4], [7, 6], tokens, 0.25) == [0, 7, 1, 2, 3, 6, 4]
    # What the other took already costs nothing again.
    assert interleave([0, 1, 2], [0, 5], tokens, 0.25) == [0, 5, 1, 2]
    assert interleave([0, 1], [], tokens, 0.25) == [0, 1]
    assert interleave([], [3], tokens, 0.25) == [3]


def test_neighbours_are_the_next_units_and_parts() -> None:
    unit_index = np.array([3, 4, 4, 4, 9])
    part = np.array([0, 0, 1, 3, 0])
    assert neighbours([1], unit_index, part) == [0, 2]
    assert neighbours([2], unit_index, part) == [1]
    assert neighbours([4, 0], unit_index, part) == [1]
    assert neighbours([1, 0, 2], unit_index, part) == []


def test_a_text_that_better_ones_hold_is_a_repetition() -> None:
    body = "one two three four five six seven eight nine ten"
    texts = {0: body, 1: "seven six five four three two one", 2: body + " eleven", 3: "", 4: "one two"}
    assert near_duplicates([0, 1, 2, 3, 4], texts, 0.7) == {2}
    assert near_duplicates([2, 0], texts, 0.7) == {0}
    chinese = {
        0: "猎鹰项目，端口是七三九一。周四前，要换铜管，并通知客户。",
        1: "周四前，要换铜管，并通知客户！",
    }
    assert near_duplicates([0, 1], chinese, 0.7) == {1}


def test_lifted_messages_are_outside_unmatched_and_enough_for_the_budget() -> None:
    talk = Talk([("user", "x" * 40)] * 3 + [("assistant", "x" * 40)] * 3)
    history = talk.history
    scores = np.array([5.0, 4.0, 3.0, 0.0, 1.0, 2.0])
    matched, everywhere = np.array([0]), np.ones(6, dtype=bool)
    assert lifted(history, scores, matched, everywhere, 128, 10_000).tolist() == [1, 2, 5, 4]
    assert lifted(history, scores, matched, everywhere, 128, 1).tolist() == [1]
    outside = np.array([True, True, False, True, True, True])
    assert lifted(history, scores, matched, outside, 128, 10_000).tolist() == [1, 5, 4]


def test_recency_decays_slower_the_longer_the_conversation() -> None:
    assert recency(np.array([10]), 10).tolist() == [1.0]
    assert recency(np.array([0]), 32)[0] == pytest.approx(np.exp(-1))
    assert recency(np.array([0]), 10_000)[0] == pytest.approx(np.exp(-2))


def test_the_formula() -> None:
    assert role_weight(np.array([0, 1, 2, 9], dtype=np.uint8)).tolist() == [1.0, 0.8, 0.4, 0.5]
    weights = Weights(rerank=0.55, fused=0.0, recency=0.30, role=0.15)
    one = [np.array([v]) for v in (0.8, 0.9, 0.5, 1.0)]
    assert score(weights, *one)[0] == pytest.approx(0.55 * 0.8 + 0.30 * 0.5 + 0.15)


def test_a_part_counts_as_the_best_of_its_unit_and_its_own_score_orders_them() -> None:
    scores = whole(np.array([0.2, 0.9, 0.0, 0.5]), np.array([3, 3, 3, 7]))
    assert scores == pytest.approx([0.9, 0.9, 0.9, 0.5], abs=1e-5)
    assert scores.argsort().tolist() == [3, 2, 0, 1]
    assert whole(np.zeros(0), np.zeros(0, dtype=np.int64)).tolist() == []
