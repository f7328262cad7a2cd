"""Bodies that cannot be read, and what is named as wrong in them."""

import orjson
import pytest

from services.gateway.dialects import anthropic, chat
from services.gateway.dialects.base import Dialect
from services.gateway.reading.body import DEEPEST, load, split_body
from shared.errors import InvalidRequest
from tests.support.requests import request_of

READ = frozenset({"model"})


@pytest.mark.parametrize("name", ["tools", "system", "metadata"])
def test_a_field_that_is_no_utf8_is_named(name: str) -> None:
    raw = b'{"model":"m","messages":[{"role":"user","content":"hi"}],"%s":["\xff\xfe"]}' % name.encode()
    with pytest.raises(InvalidRequest) as raised:
        split_body(raw, "messages", READ)
    assert raised.value.field == name


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


@pytest.mark.parametrize("levels", [DEEPEST + 1, 300, 900])
def test_what_is_nested_too_deeply_is_named(levels: int) -> None:
    with pytest.raises(InvalidRequest) as raised:
        load(nested(levels), "messages[3]")
    assert raised.value.field == "messages[3]"


def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert load(nested(DEEPEST), "x")
    assert load(b"[" + b",".join([nested(DEEPEST - 1)] * 3) + b"]", "x")


@pytest.mark.parametrize("dialect", [chat, anthropic])
def test_a_message_of_unknown_parts_is_nested_too_deeply(dialect: Dialect) -> None:
    part = {"type": "odd", "x": orjson.Fragment(nested(300))}
    with pytest.raises(InvalidRequest) as raised:
        request_of([{"role": "user", "content": [part]}], dialect)
    assert raised.value.field == "messages[0]"
