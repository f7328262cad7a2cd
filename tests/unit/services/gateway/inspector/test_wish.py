import pytest

from services.gateway.inspector.replan import Change
from services.gateway.inspector.wish import OFFERED, change_of, fields_of
from shared.errors import InvalidRequest
from shared.overrides import PLANNED


def test_nothing_filled_in_changes_nothing() -> None:
    assert change_of({"profile": "", "window": " "}) == Change()


def test_what_is_filled_in_is_asked_for() -> None:
    given = {"profile": "seed", "mmr_lambda": "0.5", "memory_max_tokens": "400", "window": "8192"}
    assert change_of(given | {"without_state": "on", "engine_url": "http://elsewhere"}) == Change(
        {"profile": "seed", "mmr_lambda": 0.5, "memory_max_tokens": 400}, 8192, True
    )


@pytest.mark.parametrize(
    "given", [{"mmr_lambda": "much"}, {"window": "12"}, {"window": "x"}, {"window": "1.e999"}]
)
def test_what_is_no_number_is_named(given: dict[str, str]) -> None:
    with pytest.raises(InvalidRequest) as raised:
        change_of(given)
    assert raised.value.field == next(iter(given))


def test_only_what_decides_one_plan_is_offered() -> None:
    assert set(OFFERED) <= PLANNED
    choices = {field.name: field.choices for field in fields_of({})}
    assert choices["drift_mode"] == ("rebuild", "patch")
    assert choices["mmr_lambda"] == ()
