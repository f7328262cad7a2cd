import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.smooth import AFTER, BEFORE, lent


def naive(scores: list[float]) -> list[float]:
    total = []
    for unit in range(len(scores)):
        lends = 0.0
        for distance in range(1, 5):
            if unit - distance >= 0:
                lends += BEFORE[distance - 1] * scores[unit - distance]
            if unit + distance < len(scores):
                lends += AFTER[distance - 1] * scores[unit + distance]
        total.append(lends)
    return total


@given(st.lists(st.floats(0, 100), max_size=30))
def test_equals_a_loop_over_neighbours(scores: list[float]) -> None:
    assert np.allclose(lent(np.array(scores)), naive(scores))


def test_what_stands_after_a_match_gets_more_than_what_stands_before_it() -> None:
    assert lent(np.array([0.0, 0.0, 1.0, 0.0, 0.0])).tolist() == [0.3, 0.5, 0.0, 0.7, 0.5]
