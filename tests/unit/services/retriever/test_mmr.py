import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.mmr import mmr
from shared.store.port import Vector


def naive(scores: list[float], vectors: list[Vector | None], balance: float) -> list[int]:
    chosen: list[int] = []
    while len(chosen) < len(scores):

        def marginal(row: int) -> float:
            own = vectors[row]
            others = [vectors[c] for c in chosen]
            near = [0.0 if own is None or o is None else float(own @ o) for o in others]
            return balance * scores[row] - (1 - balance) * max(near, default=0.0)

        left = [row for row in range(len(scores)) if row not in chosen]
        chosen.append(max(left, key=lambda row: (marginal(row), -row)))
    return chosen


@given(st.integers(0, 12), st.integers(0, 1000), st.sampled_from([0.0, 0.3, 0.7, 1.0]))
def test_equals_the_definition(count: int, seed: int, balance: float) -> None:
    rng = np.random.default_rng(seed)
    # Quarters and signs: sums are exact, so that ties are ties on both sides.
    scores = (rng.integers(0, 5, count) / 4).tolist()
    corners = [rng.choice([-0.5, 0.5], 4) for _ in range(count)]
    vectors: list[Vector | None] = [c if rng.random() > 0.2 else None for c in corners]
    found = mmr(np.array(scores), vectors, balance).tolist()
    assert sorted(found) == list(range(count))
    expected = naive(scores, vectors, balance)
    assert found == expected


def test_a_repetition_gives_way() -> None:
    same, other = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert mmr(np.array([0.9, 0.89, 0.6]), [same, same, other], 0.7).tolist() == [0, 2, 1]


def test_without_vectors_it_is_score_order() -> None:
    assert mmr(np.array([0.1, 0.9, 0.5]), [None, None, None], 0.7).tolist() == [1, 2, 0]
