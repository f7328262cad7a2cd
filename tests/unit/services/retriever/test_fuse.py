import numpy as np
import pytest

from services.retriever.fuse import above_most, fuse, rank_scale, to_range

NAN = float("nan")


def test_each_side_counts_by_its_own_range() -> None:
    fused = fuse(np.array([20.0, 10.0, 0.0]), to_range(np.array([0.80, NAN, 0.90])), 0.7)
    assert np.allclose(fused, np.array([1.0, 0.5, 0.7]) / 1.7)


def test_one_side_alone_keeps_its_scale() -> None:
    assert fuse(np.array([4.0, 2.0]), to_range(np.array([NAN, NAN])), 0.7).tolist() == [1.0, 0.5]
    assert fuse(np.array([0.0, 0.0]), to_range(np.array([0.2, 0.6])), 0.7).tolist() == [0.0, 1.0]


def test_nothing_found_and_a_single_hit() -> None:
    assert fuse(np.array([]), np.array([]), 0.7).tolist() == []
    assert fuse(np.array([0.0]), to_range(np.array([NAN])), 0.7).tolist() == [0.0]
    assert fuse(np.array([0.0, 0.0]), to_range(np.array([0.4, NAN])), 0.7).tolist() == [1.0, 0.0]


def test_ranks_have_no_scale() -> None:
    assert rank_scale(np.array([0.1, 900.0, 0.2, 0.1])).tolist() == [0.5, 1.0, 0.75, 0.25]


def test_only_the_most_alike_quarter_of_the_units_says_anything() -> None:
    cosines = np.array([0.9, 0.8, 0.7, NAN, 0.6, 0.5, 0.4, 0.3])
    assert above_most(cosines, 8) == pytest.approx([0.2, 0.1, 0, 0, 0, 0, 0, 0])
    # Of a long history only the nearest were found: all of them are among that quarter.
    assert above_most(cosines, 1000) == pytest.approx([0.6, 0.5, 0.4, 0, 0.3, 0.2, 0.1, 0])
    assert above_most(np.array([NAN, NAN]), 2).tolist() == [0.0, 0.0]
