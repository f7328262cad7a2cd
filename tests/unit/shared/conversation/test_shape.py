from typing import Any

import orjson
import pytest
from hypothesis import given

from services.gateway.dialects.chat import read_message
from shared.conversation.address import tenant_key
from shared.conversation.facts import Weights, facts_of
from shared.conversation.history import History, RoleCode
from shared.conversation.shape import Shape, shape_of
from shared.tokens.estimate import Coefficients
from tests.support.histories import Message, histories

WEIGHTS = Weights(Coefficients(), 8)


def shape(messages: list[Message], tenant: str = "t") -> Shape:
    key = tenant_key(tenant)
    return shape_of(
        [facts_of(read_message(orjson.dumps(m), i, 1024), key, WEIGHTS) for i, m in enumerate(messages)], key
    )


def user(content: Any) -> Message:
    return {"role": "user", "content": content}


def call(identity: str, name: str = "f", arguments: str = "{}") -> Message:
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": identity, "function": function}]}


def result(identity: str, content: str = "done") -> Message:
    return {"role": "tool", "tool_call_id": identity, "content": content}


def test_a_string_and_a_list_of_one_part_are_one_message() -> None:
    assert shape([user("hi")]).addresses == shape([user([{"type": "text", "text": "hi"}])]).addresses


def test_what_clients_change_on_the_way_changes_no_address() -> None:
    plain = [user("q"), call("c1", arguments='{"a":1,"b":2}'), result("c1")]
    changed = [
        user([{"type": "text", "text": "q", "cache_control": {"type": "ephemeral"}}]),
        {**call("other-id", arguments='{"b": 2, "a": 1}'), "content": "", "reasoning_content": "hmm"},
        result("other-id"),
    ]
    assert shape(plain).addresses == shape(changed).addresses


@pytest.mark.parametrize("levels", [300, 2000])
def test_arguments_nested_deeply_are_taken_as_they_are(levels: int) -> None:
    deep = call("c1", arguments="[" * levels + "]" * levels)
    assert len(shape([user("q"), deep, result("c1")])) == 3


def test_equal_results_of_different_calls_differ() -> None:
    calls = {
        "role": "assistant",
        "tool_calls": [{"id": i, "function": {"name": "f", "arguments": "{}"}} for i in ("a", "b")],
    }
    addresses = shape([user("q"), calls, result("a", "x"), result("b", "x")]).addresses
    assert addresses[2] != addresses[3]


def test_tenants_share_no_address() -> None:
    assert set(shape([user("hi")], "one").addresses).isdisjoint(shape([user("hi")], "two").addresses)


def test_system_messages_have_no_position() -> None:
    messages = [
        {"role": "system", "content": "now 12:01"},
        user("a"),
        {"role": "developer", "content": "b"},
        user("c"),
    ]
    found = shape(messages)
    assert (found.head, found.bodies, found.firsts) == (1, [1, 3], [1, 2, 4])
    without_clock = [{"role": "system", "content": "now 12:02"}, *messages[1:]]
    assert shape(without_clock).addresses == found.addresses
    assert found.tokens[1] > found.tokens[0]


def test_turns_and_steps() -> None:
    found = shape([user("1"), call("a"), result("a"), call("b"), result("b"), user("2"), user("3")])
    assert found.turns.tolist() == [1, 1, 1, 1, 1, 2, 3]
    assert found.steps.tolist() == [0, 1, 1, 2, 2, 0, 0]
    assert found.tools == {2: ("f",), 4: ("f",)}


def test_a_greeting_is_a_turn_of_its_own() -> None:
    found = shape([{"role": "assistant", "content": "Hello!"}, user("1"), call("a"), result("a")])
    assert found.turns.tolist() == [0, 1, 1, 1]
    assert found.steps.tolist() == [1, 0, 1, 1]


@given(histories())
def test_every_raw_message_after_the_head_belongs_to_one_position(messages: list[Message]) -> None:
    found = shape(messages)
    covered = [i for p in range(len(found)) for i in range(found.firsts[p], found.firsts[p + 1])]
    assert covered == list(range(found.head, len(messages)))


@given(histories())
def test_packing_keeps_everything(messages: list[Message]) -> None:
    history = shape(messages).history(0.5)
    again = History.unpack(history.pack())
    assert again.addresses == history.addresses
    for name in ("roles", "turns", "steps", "units", "tokens"):
        assert getattr(again, name).tolist() == getattr(history, name).tolist()
    assert again.address_keys.tolist() == [
        int.from_bytes(history.address(p)[-8:], "big") & (2**63 - 1) for p in range(len(history))
    ]


@given(histories())
def test_a_prefix_has_the_addresses_of_the_whole(messages: list[Message]) -> None:
    whole = shape(messages)
    half = shape(messages[: whole.firsts[max(len(whole) // 2, 1)]])
    assert half.addresses == whole.addresses[: len(half)]
    assert set(whole.roles.tolist()) <= set(RoleCode)


def test_a_user_who_says_nothing_begins_no_turn() -> None:
    image = [{"type": "image_url", "image_url": {"url": "data:,"}}]
    said = [user("q"), user(""), call("c1"), result("c1"), user(image), user([])]
    assert shape(said).turns.tolist() == [1, 1, 1, 1, 2, 2]


def test_reasoning_that_is_sent_back_costs_but_has_no_address() -> None:
    plain = {"role": "assistant", "content": "yes"}
    reasoned = {**plain, "reasoning_content": "hm " * 200}
    one, other = shape([user("a"), plain]), shape([user("a"), reasoned])
    assert one.addresses == other.addresses
    assert other.tokens[1] > one.tokens[1] + 300


def test_nothing_begins_between_a_call_and_its_result() -> None:
    found = shape([user("1"), call("a"), user("hurry"), call("b"), result("b"), result("a"), user("2")])
    assert found.turns.tolist() == [1, 1, 1, 1, 1, 1, 2]
    assert found.steps.tolist() == [0, 1, 1, 1, 1, 1, 0]
    assert found.tools == {4: ("f",), 5: ("f",)}
