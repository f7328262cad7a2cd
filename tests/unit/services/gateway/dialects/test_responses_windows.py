"""Responses inputs, cut wherever they may be cut, stay valid; addresses survive what clients do."""

from typing import Any

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.gateway.dialects import responses
from shared.prompt.cut import omission
from shared.prompt.render import CLOSING
from tests.support.histories_responses import histories, resent
from tests.support.requests import cut_everywhere, request_of
from tests.support.valid_responses import faults

Item = dict[str, Any]
TEXTS = ("text", "stdout")
quick = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@quick
@given(histories(most_turns=5))
def test_the_histories_are_valid(items: list[Item]) -> None:
    assert faults(items) == []


@quick
@given(histories(most_turns=5))
def test_every_window_is_valid(items: list[Item]) -> None:
    for layout, sent in cut_everywhere(request_of(items, responses)):
        assert faults(sent) == [], layout


@quick
@given(st.data())
def test_what_clients_change_on_the_way_changes_no_address(data: st.DataObject) -> None:
    items = data.draw(histories(most_turns=5))
    again = data.draw(resent(items))
    first, second = request_of(items, responses), request_of(again, responses)
    assert first.shape.addresses == second.shape.addresses
    assert first.shape.steps.tolist() == second.shape.steps.tolist()


@quick
@given(histories(most_turns=3))
def test_an_edit_keeps_everything_else(items: list[Item]) -> None:
    """Without the texts that were put in or shortened the items are what they were."""
    request = request_of(items, responses)
    for layout, sent in cut_everywhere(request):
        if layout.window_start or not layout.cuts:
            continue
        assert [_skeleton(i) for i in sent] == [_skeleton(i) for i in items]
        for cut in layout.cuts:
            place = request.shape.bodies[cut.position]
            assert omission(cut.end - cut.start).strip() in orjson.dumps(sent[place]).decode()


def _skeleton(value: Any) -> Any:
    """Everything but texts; blocks that hold nothing but an excerpt are left out."""
    if isinstance(value, list):
        return [_skeleton(v) for v in value if not _is_excerpt(v)]
    if isinstance(value, dict):
        plain = {k for k in ("content", "output") if isinstance(value.get(k), str)}
        return {k: "" if k in TEXTS or k in plain else _skeleton(v) for k, v in value.items()}
    return value


def _is_excerpt(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("text", "")).rstrip().endswith(CLOSING)
