"""System messages and nothing else are forwarded while they fit: the engine says whether it takes them."""

from typing import Any

import pytest

from services.gateway.dialects import chat, responses
from services.gateway.dialects.base import Dialect
from services.gateway.upstream.overflow import Overflow
from shared.errors import ContextLengthExceeded
from tests.support.pipeline import Pipeline

WINDOW = 4096
WORDS = "The harbour closes at nine, and the lamps stay lit until the last boat is in. "


def head(times: int) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": "Greet the reader."},
        {"role": "developer", "content": WORDS * times},
    ]


@pytest.mark.parametrize("dialect", [chat, responses])
@pytest.mark.parametrize("times", [1, 190])
async def test_what_fits_passes_as_it_came(dialect: Dialect, times: int) -> None:
    pipeline = Pipeline(WINDOW, dialect=dialect)
    prepared = await pipeline.prepare(head(times))
    assert prepared.mode == "passthrough"
    assert prepared.body == pipeline.request(head(times)).body.raw
    assert pipeline.bus.published == []


async def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ContextLengthExceeded):
        await Pipeline(WINDOW).prepare(head(400))


async def test_what_the_engine_refuses_has_no_smaller_form() -> None:
    pipeline = Pipeline(WINDOW)
    prepared = await pipeline.prepare(head(100))
    overflow = Overflow(window=1024, tokens=1800)
    with pytest.raises(ContextLengthExceeded, match="1024"):
        await pipeline.preparer.prepare_smaller(pipeline.request(head(100)), "s", prepared, overflow)
