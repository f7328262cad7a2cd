"""What is refused of a request before anything is decided."""

import pytest

from services.gateway.dialects import anthropic, chat, responses
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


@pytest.mark.parametrize(
    ("dialect", "field", "least"),
    [(chat, "max_tokens", 1), (responses, "max_output_tokens", 1), (anthropic, "max_tokens", 0)],
)
def test_an_output_limit_is_what_its_dialect_allows(dialect: Dialect, field: str, least: int) -> None:
    """Anthropic's clients warm the prompt cache with 0."""
    said = [{"role": "user", "content": "hi"}]
    assert request_of(said, dialect, **{field: least}).max_tokens == least
    for wrong in (least - 1, str(least), True, 1.5):
        with pytest.raises(InvalidRequest) as raised:
            request_of(said, dialect, **{field: wrong})
        assert raised.value.field == field
