"""Units embedded / units seen."""

import math
from typing import Any

import pytest

from evals.turns.counting import Said
from evals.turns.turn import Embedded

CALL = {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "The head is not embedded."},
    {"role": "user", "content": "a long question"},
    {"role": "assistant", "content": "an answer", "tool_calls": [CALL]},
]
UNITS = ["a long question", "an answer", "ls({})"]


@pytest.fixture
def said() -> Said:
    found = Said()
    found.add(MESSAGES)
    found.add(MESSAGES)
    return found


def embedded_share(texts: list[str], said: Said) -> float:
    return Embedded(8192, len(texts), len(said.units(texts))).share


def test_each_unit_once_is_one(said: Said) -> None:
    assert embedded_share(UNITS, said) == 1.0


def test_parts_of_a_long_text_are_units(said: Said) -> None:
    assert embedded_share(["a long ", "question", *UNITS[1:]], said) == 1.0


def test_what_is_embedded_twice_shows(said: Said) -> None:
    assert embedded_share([*UNITS, "an answer"], said) == pytest.approx(4 / 3)


@pytest.mark.parametrize("foreign", ["a long question\nan answer", "The head is not embedded."])
def test_what_nobody_said_shows(said: Said, foreign: str) -> None:
    """Texts merged with their neighbours are embedded anew whenever a neighbour changes."""
    assert embedded_share([*UNITS, foreign], said) == pytest.approx(4 / 3)


def test_nothing_embedded_is_no_figure() -> None:
    assert math.isnan(embedded_share([], Said()))
