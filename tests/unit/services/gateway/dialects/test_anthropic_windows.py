"""Anthropic histories, cut wherever they may be cut, stay valid; addresses survive what clients do."""

from typing import Any

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.gateway.dialects import anthropic
from shared.prompt.cut import omission
from shared.prompt.render import CLOSING
from tests.support.histories_anthropic import histories, resent
from tests.support.requests import cut_everywhere, request_of
from tests.support.valid_anthropic import faults

Message = dict[str, Any]
quick = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@quick
@given(histories(most_turns=5))
def test_the_histories_are_valid(messages: list[Message]) -> None:
    assert faults(messages) == []


@quick
@given(histories(most_turns=5))
def test_every_window_is_valid(messages: list[Message]) -> None:
    for layout, sent in cut_everywhere(request_of(messages, anthropic)):
        assert faults(sent) == [], layout


@quick
@given(st.data())
def test_what_clients_change_on_the_way_changes_no_address(data: st.DataObject) -> None:
    messages = data.draw(histories(most_turns=5))
    again = data.draw(resent(messages))
    first, second = request_of(messages, anthropic), request_of(again, anthropic)
    assert first.shape.addresses == second.shape.addresses
    assert [first.units(p) for p in range(len(first.shape))] == [
        second.units(p) for p in range(len(second.shape))
    ]


@quick
@given(histories(most_turns=3))
def test_an_edit_keeps_everything_else(messages: list[Message]) -> None:
    """Without the texts that were put in or shortened the messages are what they were."""
    request = request_of(messages, anthropic)
    for layout, sent in cut_everywhere(request):
        if layout.window_start or not layout.cuts:
            continue
        before = [_skeleton(m) for m in messages]
        after = [_skeleton(m) for m in sent]
        assert [orjson.dumps(m) for m in after] == [orjson.dumps(m) for m in before]
        for cut in layout.cuts:
            place = request.shape.bodies[cut.position]
            assert omission(cut.end - cut.start).strip() in orjson.dumps(sent[place]).decode()


def _skeleton(value: Any) -> Any:
    """Everything but texts; text blocks that hold nothing but an excerpt are left out."""
    if isinstance(value, list):
        kept = [v for v in value if not (v.get("type") == "text" and v["text"].rstrip().endswith(CLOSING))]
        return [_skeleton(v) for v in kept]
    if isinstance(value, dict):
        texts = ("text", "data") if value.get("type") == "text" else ()
        return {k: "" if k in texts else _skeleton(v) for k, v in value.items() if k != "content"} | {
            "content": _content(value.get("content"))
        }
    return value


def _content(content: Any) -> Any:
    return "" if content is None or isinstance(content, str) else _skeleton(content)
