"""What is refused of a request before anything is decided."""

import pytest

from services.gateway.dialects import anthropic, chat
from services.gateway.dialects.base import Dialect
from shared.errors import InvalidRequest
from tests.support.requests import request_of


@pytest.mark.parametrize("dialect", [chat, anthropic])
def test_more_texts_than_can_be_told_are_named(dialect: Dialect) -> None:
    said = {"role": "user", "content": "hi"}
    many = {"role": "user", "content": [{"type": "text", "text": "x"}] * 65_536}
    with pytest.raises(InvalidRequest) as raised:
        request_of([said, many], dialect)
    assert raised.value.field == "messages[1]"
