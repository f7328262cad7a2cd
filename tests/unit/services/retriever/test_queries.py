import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.queries import both_ends, question, search_weights
from shared.contracts.rpc import SearchText
from shared.tokens.estimate import upper_bound


def test_earlier_messages_weigh_less_by_role_and_distance() -> None:
    search = [
        SearchText("user", "kestrel"),
        SearchText("assistant", "granite"),
        SearchText("user", "orchid"),
        SearchText("user", "kestrel"),
    ]
    weights = search_weights(search, 100, None)
    assert weights == pytest.approx(
        {"kestrel": 1 + 0.3 * 0.7**2, "granit": 0.1, "orchid": 0.3 * 0.7}, rel=1e-9
    )


def test_what_led_up_to_a_question_weighs_together_at_most_a_share_of_it() -> None:
    search = [
        SearchText("user", "kestrel granite"),
        SearchText("user", "orchid juniper"),
        SearchText("user", "topaz kestrel"),
    ]
    free = search_weights(search, 100, None)
    bounded = search_weights(search, 100, 0.25)
    earlier = sum(bounded.values()) - 2
    assert earlier == pytest.approx(0.25 * 2)
    # In the same proportions among themselves.
    assert bounded["topaz"] / bounded["orchid"] == pytest.approx(free["topaz"] / free["orchid"])
    assert search_weights(search, 100, 9.0) == pytest.approx(free)


def test_a_word_counts_once_a_text() -> None:
    assert search_weights([SearchText("user", "kestrel kestrel")], 100, None) == {"kestrel": 1.0}


def test_an_agent_searches_with_its_last_result_and_its_last_text() -> None:
    search = [
        SearchText("tool", "kestrel"),
        SearchText("assistant", ""),
        SearchText("tool", "granite"),
        SearchText("assistant", "orchid"),
        SearchText("user", "juniper"),
    ]
    weights = search_weights(search, 100, None)
    assert weights == pytest.approx({"kestrel": 2.0, "granit": 0.7**2, "orchid": 1 + 0.7**3})


def test_of_a_long_result_its_end_counts() -> None:
    weights = search_weights([SearchText("tool", "kestrel " + "- " * 3000 + "granite")], 100, None)
    assert set(weights) == {"granit"}


def test_nothing_to_search_with() -> None:
    assert search_weights([], 100, None) == {}
    assert question([], 100) == ""


@given(st.text(max_size=400), st.integers(1, 200))
def test_a_question_keeps_both_ends(text: str, query_tokens: int) -> None:
    asked = question([SearchText("user", text)], query_tokens)
    assert len(asked) <= len(text)
    if upper_bound(text) <= query_tokens:
        assert asked == text


def test_both_ends() -> None:
    assert both_ends("abcdefgh", 8) == "abcdefgh"
    assert both_ends("abcdefgh", 5) == "abfgh"
    assert both_ends("abcdefgh", 0) == ""
