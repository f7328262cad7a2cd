from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from services.embedder.batch import Text, batches, distinct
from tests.support.chunks import chunk


def test_a_text_comes_once_and_where_it_was_first() -> None:
    chunks = [chunk("a"), chunk("b"), chunk("a", part=1), chunk("c")]
    assert [text.text for text in distinct(chunks)] == ["a", "b", "c"]


@given(st.lists(st.integers(1, 40)), st.integers(1, 6), st.integers(1, 60))
def test_batches_keep_order_and_bounds(sizes: list[int], count: int, tokens: int) -> None:
    texts = [Text(str(n), "", size) for n, size in enumerate(sizes)]
    packed = list(batches(texts, count, tokens))
    assert [text for batch in packed for text in batch] == texts
    for batch in packed:
        assert len(batch) <= count
        assert sum(text.tokens for text in batch) <= tokens or len(batch) == 1
    for batch, following in pairwise(packed):
        assert len(batch) == count or sum(t.tokens for t in [*batch, following[0]]) > tokens
