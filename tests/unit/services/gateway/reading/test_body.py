"""Bodies that cannot be read, and what is named as wrong in them."""

import pytest

from services.gateway.reading.body import split_body
from shared.errors import InvalidRequest

READ = frozenset({"model"})


@pytest.mark.parametrize("name", ["tools", "system", "metadata"])
def test_a_field_that_is_no_utf8_is_named(name: str) -> None:
    raw = b'{"model":"m","messages":[{"role":"user","content":"hi"}],"%s":["\xff\xfe"]}' % name.encode()
    with pytest.raises(InvalidRequest) as raised:
        split_body(raw, "messages", READ)
    assert raised.value.field == name
