from hypothesis import given
from hypothesis import strategies as st

from services.gateway.inspector.budget import MEANINGS, parts_of
from services.gateway.inspector.recorded import Record
from shared.contracts.events import ExchangeRecorded
from shared.prompt.place import excerpt_tokens
from shared.prompt.plan import PATCH_FRAME_TOKENS, Excerpt, Layout, Patch
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


def test_what_is_quoted_costs_what_the_plan_says() -> None:
    excerpt = Excerpt(0, 0, 0, 9, "", 300)
    patches = (Patch(4, (excerpt,)), Patch(6, (excerpt, excerpt)))
    layout = Layout(window_start=4, block=(excerpt,), patches=patches)
    parts = {part.name: part.tokens for part in parts_of(made(layout))}
    assert parts["patch"] == 2 * PATCH_FRAME_TOKENS + 900
    assert parts["block"] + parts["patch"] == excerpt_tokens(layout, 1.0)


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(0, 20_000))
def test_no_part_is_negative_whatever_was_counted(head: int, limit: int, told: int) -> None:
    parts = parts_of(made(Layout(), head, limit, told))
    assert all(part.tokens >= 0 and 0 <= part.start <= 1.0001 for part in parts)
    assert abs(sum(part.share for part in parts) - 1) < 1e-6


def made(layout: Layout, head: int = 0, limit: int = 4000, told: int = 4000) -> Record:
    return Record.model_validate(
        {
            "id": "r",
            "session": "s",
            "model": "m",
            "at": 1.0,
            "mode": "assembled",
            "window": limit + 100,
            "limit": limit,
            "prompt_tokens": 5,
            "prompt_tokens_exact": False,
            "usage": {"prompt_tokens": told},
            "layout": layout.model_dump(),
            "prompt": {"messages": []},
            "budget": {"head": head},
        }
    )
