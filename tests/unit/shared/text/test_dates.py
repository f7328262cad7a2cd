from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.dates import date_tokens

FULL = {"2023", "month:5", "day:8", "weekday:1"}
MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@pytest.mark.parametrize(
    "text",
    [
        "2023-05-08",
        "2023-05-08T10:22:31+02:00",
        "2023/5/8",
        "8 May, 2023",
        "8 May 2023",
        "8th of May, 2023",
        "1:56 pm on 8 May, 2023",
        "May 8, 2023",
        "May 8th 2023 at 3:30",
        "may 8 2023",
        "8-May-2023",
        "2023年5月8日",
        "2023 年 5 月 8 日",
        "2023年05月08号",
        "08.05.2023",
        "Mon, 08 May 2023 10:00:00 GMT",
    ],
)
def test_a_date_is_the_same_in_every_form(text: str) -> None:
    assert set(date_tokens(text)) == FULL


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("May 8", {"month:5", "day:8"}),
        ("5月8日", {"month:5", "day:8"}),
        ("June 2022", {"2022", "month:6"}),
        ("2022年6月", {"2022", "month:6"}),
        ("in May", {"month:5"}),
        ("last March", {"month:3"}),
        ("since July", {"month:7"}),
        ("on Mondays", {"weekday:1"}),
        ("星期天", {"weekday:7"}),
        ("周三开会", {"weekday:3"}),
        ("5/8/2023", FULL | {"month:8", "day:5", "weekday:6"}),
        ("13/8/2023", {"2023", "month:8", "day:13", "weekday:7"}),
    ],
)
def test_part_of_a_date_is_what_it_says(text: str, expected: set[str]) -> None:
    assert set(date_tokens(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I may go",
        "they march on",
        "MAR",
        "dec",
        "version 2.3.1",
        "1/2",
        "2023-13-45",
        "12:30",
        "sunny",
        "192.168.1.2",
    ],
)
def test_what_is_no_date_says_nothing(text: str) -> None:
    assert date_tokens(text) == []


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)))
def test_every_day_is_read_alike(day: date) -> None:
    expected = {str(day.year), f"month:{day.month}", f"day:{day.day}", f"weekday:{day.isoweekday()}"}
    name = MONTH_NAMES[day.month - 1]
    for text in (
        day.isoformat(),
        f"{day.day} {name}, {day.year}",
        f"{name[:3]} {day.day}, {day.year}",
        f"{day.year}年{day.month}月{day.day}日",
    ):
        assert set(date_tokens(f"It was on {text}.")) == expected
