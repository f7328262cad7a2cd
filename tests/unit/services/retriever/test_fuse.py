import numpy as np

from services.retriever.fuse import fuse, rank_scale

NAN = float("nan")


def test_each_side_counts_by_its_own_range() -> None:
    fused = fuse(np.array([20.0, 10.0, 0.0]), np.array([0.80, NAN, 0.90]), 0.7)
    assert np.allclose(fused, np.array([1.0, 0.5, 0.7]) / 1.7)


def test_one_side_alone_keeps_its_scale() -> None:
    assert fuse(np.array([4.0, 2.0]), np.array([NAN, NAN]), 0.7).tolist() == [1.0, 0.5]
    assert fuse(np.array([0.0, 0.0]), np.array([0.2, 0.6]), 0.7).tolist() == [0.0, 1.0]


def test_nothing_found_and_a_single_hit() -> None:
    assert fuse(np.array([]), np.array([]), 0.7).tolist() == []
    assert fuse(np.array([0.0]), np.array([NAN]), 0.7).tolist() == [0.0]
    assert fuse(np.array([0.0, 0.0]), np.array([0.4, NAN]), 0.7).tolist() == [1.0, 0.0]


def test_ranks_have_no_scale() -> None:
    assert rank_scale(np.array([0.1, 900.0, 0.2, 0.1])).tolist() == [0.5, 1.0, 0.75, 0.25]
