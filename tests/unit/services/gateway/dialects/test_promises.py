"""The promises in the other dialects: any valid history, at any window, and what is sent stays valid."""

import os
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from services.gateway.dialects import anthropic, responses
from services.gateway.dialects.base import Dialect
from shared.errors import ContextLengthExceeded
from shared.tokens.prompt import Prompt
from tests.support import histories_anthropic, histories_responses, valid_anthropic, valid_responses
from tests.support.pipeline import Pipeline, sent

Message = dict[str, Any]
Faults = Callable[[list[Message]], list[str]]
attack = settings(
    max_examples=int(os.environ.get("ATTACKS", "25")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
windows = st.sampled_from([2048, 2500, 4096, 8192])
dialects = pytest.mark.parametrize(
    ("dialect", "drawn", "faults"),
    [
        (anthropic, histories_anthropic.histories(size=40), valid_anthropic.faults),
        (responses, histories_responses.histories(size=40), valid_responses.faults),
    ],
    ids=["anthropic", "responses"],
)


@dialects
@attack
@given(data=st.data(), window=windows, max_tokens=st.none() | st.integers(1, 10_000))
async def test_it_fits_and_stays_valid(
    dialect: Dialect,
    drawn: st.SearchStrategy[list[Message]],
    faults: Faults,
    data: st.DataObject,
    window: int,
    max_tokens: int | None,
) -> None:
    pipeline = Pipeline(window, dialect=dialect)
    fields = {} if max_tokens is None else {dialect.MAX_TOKENS[0]: max_tokens}
    try:
        prepared = await pipeline.prepare(data.draw(drawn), **fields)
    except ContextLengthExceeded:
        return
    body = orjson.loads(prepared.body)
    assert faults(body[dialect.ITEMS]) == []
    prompt = Prompt(dialect.NAME, "demo", {}, [orjson.dumps(m) for m in body[dialect.ITEMS]])
    count = await pipeline.counter.count(prompt)
    assert count is not None
    assert count + body.get(dialect.MAX_TOKENS[0], 0) <= window


@dialects
@attack
@given(data=st.data())
async def test_without_a_tokenizer_or_an_assembler_it_stays_valid(
    dialect: Dialect, drawn: st.SearchStrategy[list[Message]], faults: Faults, data: st.DataObject
) -> None:
    pipeline = Pipeline(2048, dialect=dialect)
    pipeline.counter.blind = pipeline.bus.assembler_down = True
    try:
        prepared = await pipeline.prepare(data.draw(drawn))
    except ContextLengthExceeded:
        return
    assert faults(sent(prepared, dialect.ITEMS)) == []
