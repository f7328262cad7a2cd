from shared.models.score_cache import ScoreCache, cache_key


def test_the_least_recently_used_score_goes_first() -> None:
    cache = ScoreCache(10, 2, lambda: 0.0)
    a, b, c = (cache_key("t", "q", text) for text in "abc")
    cache.put(a, 0.1)
    cache.put(b, 0.2)
    cache.get(a)
    cache.put(c, 0.3)
    assert [cache.get(key) for key in (a, b, c)] == [0.1, None, 0.3]


def test_without_a_time_to_live_nothing_is_kept() -> None:
    cache = ScoreCache(0, 2, lambda: 0.0)
    cache.put(cache_key("t", "q", "a"), 0.1)
    assert cache.get(cache_key("t", "q", "a")) is None
