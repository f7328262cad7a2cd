"""Times and names as an operator writes them."""

import pytest
import typer

from backscroll.options import label, moment, shown_time


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("90s", 910.0),
        ("1.5m", 910.0),
        ("1970-01-01T00:10", 600.0),
        ("1970-01-01T01:10+01:00", 600.0),
        ("1970-01-02", 86_400.0),
        (None, None),
    ],
)
def test_moments(text: str | None, at: float | None) -> None:
    assert moment(text, 1000.0) == at


@pytest.mark.parametrize("text", ["yesterday", "10", "10 m", "-5m", ""])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        moment(text, 1000.0)


def test_a_time_is_shown_as_it_can_be_given_again() -> None:
    assert shown_time(600.0) == "1970-01-01T00:10:00Z"
    assert moment(shown_time(600.0), 0.0) == 600.0


def test_a_session_is_called_as_events_call_it() -> None:
    assert label(" chat-1 ") == "chat-1"
    assert label(None) is None
    assert len(label("chat one") or "") == 32
