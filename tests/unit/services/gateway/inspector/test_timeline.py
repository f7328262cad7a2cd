from services.gateway.inspector.chart import chart_of
from services.gateway.inspector.timeline import lasting, rows_of
from shared.bus.records import Listed
from shared.contracts.events import ExchangeRecorded
from tests.unit.services.gateway.inspector.records import listed


def seen(number: int, tip: str, parent: str | None, **more: object) -> Listed:
    return Listed(number, "i-t", "i-s", f"i-{number}", float(number), {"tip": tip, "parent": parent, **more})


def test_who_continues_whom_is_told_by_the_state_that_was_found(events: list[ExchangeRecorded]) -> None:
    rows = rows_of(listed(events))
    assert [(row.relation, row.parent) for row in rows] == [
        ("begins", None),
        ("continues", 1),
        ("continues", 2),
        ("forks", 1),
        ("again", 4),
    ]
    assert [row.lane for row in rows] == [0, 0, 0, 1, 1]


def test_each_fork_opens_a_line() -> None:
    chat = [
        seen(1, "a", None),
        seen(2, "b", "a"),
        seen(3, "c", "a"),
        seen(4, "d", "c"),
        seen(5, "e", "a"),
        seen(6, "f", "gone"),
        seen(7, "g", "b"),
    ]
    rows = rows_of(chat[::-1])
    assert [row.lane for row in rows] == [0, 0, 1, 1, 2, 3, 0]
    assert rows[5].relation == "earlier"
    assert lasting(rows, "c", 4) == rows[2]
    assert lasting(rows, "c", 3) is None


def test_the_chart_holds_every_request_within_its_bounds(events: list[ExchangeRecorded]) -> None:
    rows = rows_of([*listed(events), seen(0, "x", None)])
    chart = chart_of(rows)
    assert len(chart.bars) == len(rows)
    assert all(0 <= bar.shared <= bar.height <= 120 for bar in chart.bars)
    assert all(0 < bar.x < chart.width and 120 < bar.y < chart.height for bar in chart.bars)
    assert len(chart.lines) == sum(row.parent is not None for row in rows)
    assert chart_of([]).bars == []
