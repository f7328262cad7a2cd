"""New identifiers first."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.identifiers import TOKEN_FLOOR, by_coverage, identifiers


def test_an_identifier_is_a_path_a_joined_name_or_a_long_number() -> None:
    text = "see /etc/app.conf, loadUser and max_tokens (order QN-200481): 73910 dollars, somebody said"
    assert identifiers(text) == {"etc/app.conf", "loadUser", "max_tokens", "QN-200481"}
    assert identifiers("739104 files") == {"739104"}
    assert identifiers("") == frozenset()


def test_a_text_with_new_names_goes_before_one_whose_names_are_held() -> None:
    texts = {0: "src/app.py src/user.py", 1: "src/app.py src/user.py", 2: "lib/other.py lib/more.py"}
    scores, tokens = np.array([1.0, 0.9, 0.5]), np.array([10, 10, 10])
    assert by_coverage([0, 1, 2], texts, scores, tokens, 1.0) == [0, 2, 1]
    assert by_coverage([0, 1, 2], texts, scores, tokens, 0.1) == [0, 1, 2]


def test_without_names_and_for_equal_values_the_order_stays() -> None:
    scores, tokens = np.full(3, 0.5), np.full(3, 10)
    assert by_coverage([2, 0, 1], {}, scores, tokens, 1.0) == [2, 0, 1]
    assert by_coverage([], {}, scores, tokens, 1.0) == []


NAMES = st.lists(st.sampled_from(["a/one.py", "b/two.py", "c_three", "d_fours", "plain"]), max_size=4)


@given(st.lists(st.tuples(NAMES, st.integers(1, 500), st.floats(0.01, 1)), min_size=1, max_size=8))
def test_each_row_is_the_best_of_those_left(rows: list[tuple[list[str], int, float]]) -> None:
    texts = {row: " ".join(names) for row, (names, _, _) in enumerate(rows)}
    tokens = np.array([size for _, size, _ in rows])
    scores = np.array([score for _, _, score in rows])
    order = by_coverage(range(len(rows)), texts, scores, tokens, 1.0)
    assert sorted(order) == list(range(len(rows)))

    per_token = {row: len(identifiers(texts[row])) / (tokens[row] + TOKEN_FLOOR) for row in order}
    most = max(max(per_token.values()), 1e-9)
    seen: set[str] = set()
    for place, row in enumerate(order):
        values = {
            other: scores[other] / scores.max()
            + len(identifiers(texts[other]) - seen) / (tokens[other] + TOKEN_FLOOR) / most
            for other in order[place:]
        }
        assert values[row] >= max(values.values()) - 1e-9
        seen |= identifiers(texts[row])
