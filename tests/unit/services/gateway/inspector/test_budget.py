from hypothesis import given
from hypothesis import strategies as st

from services.gateway.inspector.budget import MEANINGS, parts_of
from services.gateway.inspector.recorded import Record, Used
from shared.contracts.events import ExchangeRecorded
from tests.unit.services.gateway.inspector.records import read


def test_the_parts_make_the_window(events: list[ExchangeRecorded]) -> None:
    for record in map(read, events):
        parts = {part.name: part for part in parts_of(record)}
        assert list(parts) == list(MEANINGS)
        assert sum(part.tokens for part in parts.values()) == record.window
        assert record.counted == sum(parts[n].tokens for n in ("head", "block", "recent", "patch", "last"))
        assert (parts["block"].tokens > 0) == bool(record.layout.block)
        assert (parts["patch"].tokens > 0) == bool(record.layout.patches)
        assert 0 < parts["last"].tokens < 60


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(0, 20_000))
def test_no_part_is_negative_whatever_was_counted(head: int, limit: int, told: int) -> None:
    record = Record.model_validate(
        {
            "id": "r",
            "session": "s",
            "model": "m",
            "at": 1.0,
            "mode": "assembled",
            "status": 200,
            "window": limit + 100,
            "limit": limit,
            "prompt_tokens": 5,
            "prompt_tokens_exact": False,
            "layout": {},
            "prompt": {"messages": []},
            "budget": {"head": head},
        }
    ).model_copy(update={"usage": Used(prompt_tokens=told)})
    parts = parts_of(record)
    assert all(part.tokens >= 0 and 0 <= part.start <= 1.0001 for part in parts)
    assert abs(sum(part.share for part in parts) - 1) < 1e-6
