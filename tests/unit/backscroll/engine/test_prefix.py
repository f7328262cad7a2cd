from array import array

from hypothesis import given
from hypothesis import strategies as st

from backscroll.engine.prefix import BLOCK_TOKENS, PrefixCache

ids = st.lists(st.integers(0, 3), max_size=120)


@given(st.lists(ids, max_size=4), ids)
def test_cached_is_the_longest_shared_prefix_in_whole_blocks(seen: list[list[int]], new: list[int]) -> None:
    cache = PrefixCache()
    for old in seen:
        cache.account(array("I", old), len(old))
    cached = cache.account(array("I", new), len(new))

    def shared(old: list[int]) -> int:
        whole = min(len(old) // BLOCK_TOKENS, max(0, len(new) - 1) // BLOCK_TOKENS) * BLOCK_TOKENS
        return max(n for n in range(0, whole + 1, BLOCK_TOKENS) if old[:n] == new[:n])

    assert cached == max((shared(old) for old in seen), default=0)


def test_the_answer_counts_as_seen_but_not_as_prompt() -> None:
    cache = PrefixCache()
    prompt, answer = list(range(20)), list(range(100, 130))
    assert cache.account(array("I", prompt + answer), len(prompt)) == 0
    longer = prompt + answer + list(range(200, 220))
    assert cache.account(array("I", longer), len(longer)) == 48


def test_a_full_cache_forgets_the_ends_of_what_is_oldest() -> None:
    cache = PrefixCache(blocks=6)
    first, second = array("I", range(64)), array("I", range(1000, 1064))
    cache.account(first, 64)
    cache.account(second, 64)
    assert len(cache._seen) == 6
    assert cache.account(first, 64) == 32
