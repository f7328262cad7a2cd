from hypothesis import given
from hypothesis import strategies as st

from shared.bus.settle import LONGEST_DELAY_S, TRIES, GiveUp, HandBack, outcome, retry_delay
from shared.errors import DependencyUnavailable, InvalidRequest, PermanentFault


@given(st.integers(1, 10**9))
def test_the_delay_grows_up_to_a_cap(deliveries: int) -> None:
    assert 0.5 <= retry_delay(deliveries) <= retry_delay(deliveries + 1) <= LONGEST_DELAY_S


def test_the_delay_doubles() -> None:
    assert [retry_delay(n) for n in (1, 2, 3, 4)] == [0.5, 1, 2, 4]
    assert retry_delay(8) == LONGEST_DELAY_S


@given(st.integers(1, 10**9))
def test_a_retryable_error_never_ends_a_message(deliveries: int) -> None:
    assert isinstance(outcome(DependencyUnavailable("p", "m"), deliveries), HandBack)


@given(st.integers(1, 10**9))
def test_a_permanent_error_ends_it_at_once(deliveries: int) -> None:
    for error in (PermanentFault("no digest"), InvalidRequest("bad")):
        end = outcome(error, deliveries)
        assert isinstance(end, GiveUp)
        assert str(error) in end.reason


def test_an_unknown_error_gets_its_tries_and_keeps_its_text_to_itself() -> None:
    ends = [outcome(ValueError("the user's words"), n) for n in range(1, TRIES + 1)]
    assert all(isinstance(e, HandBack) for e in ends[:-1])
    assert ends[-1] == GiveUp("ValueError, 5 deliveries")
