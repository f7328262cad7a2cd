"""Days, months, years and weekdays as tokens that every common way to write a date shares."""

import re
from collections.abc import Iterator
from datetime import date

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_HAN_WEEKDAYS = dict(zip("一二三四五六日天", (1, 2, 3, 4, 5, 6, 7, 7), strict=True))

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_YEAR = r"(?:1[89]|20)\d\d"
_NUMERIC = re.compile(
    rf"(?=\d)(?<!\d)(?:"
    rf"(?P<y1>{_YEAR})(?:(?P<sep>[-/.])(?P<m1>\d\d?)(?P=sep)(?P<d1>\d\d?)"
    rf"|\ ?年\ ?(?P<m2>\d\d?)\ ?月(?:\ ?(?P<d2>\d\d?)\ ?[日号])?)"
    rf"|(?P<m3>\d\d?)\ ?月\ ?(?P<d3>\d\d?)\ ?[日号]"
    rf"|(?P<a>\d\d?)(?P<sep2>[/.])(?P<b>\d\d?)(?P=sep2)(?P<y4>{_YEAR})"
    rf")(?!\d)",
    re.VERBOSE,
)
_NAMED = re.compile(
    rf"\b(?=[\dJFMASOND])(?:(?P<d>{_DAY})(?:st|nd|rd|th)?(?:\s+of)?[\s-]+)?(?P<m>{_MONTH})\b\.?"
    rf"(?:\s+(?P<d2>{_DAY})(?:st|nd|rd|th)?\b(?!:))?(?:[,\s-]\s*(?P<y>{_YEAR})\b)?",
    re.IGNORECASE,
)
_MAY_BE_NUMERIC = re.compile(r"\d[-/.月]|\d ?[年月]")
_WEEKDAY = re.compile(r"\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b", re.IGNORECASE)
_HAN_WEEKDAY = re.compile("(?:星期|周|礼拜)([一二三四五六日天])")
_BARE_MONTH = re.compile(
    r"\b(?:in|of|since|until|till|by|during|last|next|this|early|mid|late)[\s-]+$", re.IGNORECASE
)
_ONLY_MONTHS = "january february april june july september october november december"


def date_tokens(text: str) -> list[str]:
    """`2023`, `month:5`, `day:8`, `weekday:1` (ISO, Monday is 1) for each date; times are ignored.

    A year is the plain number, as a text may name it alone.
    """
    found = [token for match in _NAMED.finditer(text) for token in _named(match)]
    if _MAY_BE_NUMERIC.search(text):
        found += [token for match in _NUMERIC.finditer(text) for token in _numeric(match)]
    if "day" in text or "DAY" in text:
        found += [f"weekday:{WEEKDAYS.index(m[1][:3].lower()) + 1}" for m in _WEEKDAY.finditer(text)]
    if not text.isascii():
        found += [f"weekday:{_HAN_WEEKDAYS[m[1]]}" for m in _HAN_WEEKDAY.finditer(text)]
    return found


def _numeric(found: re.Match[str]) -> Iterator[str]:
    if found["a"]:
        a, b, year = int(found["a"]), int(found["b"]), int(found["y4"])
        # 5/8/2023 is the 8th of May or the 5th of August: both, unless a number cannot be a month.
        if a <= 12 and (b > 12 or found["sep2"] == "/"):
            yield from _tokens(year, a, b)
        if b <= 12 and a != b:
            yield from _tokens(year, b, a)
        return
    day = found["d1"] or found["d2"] or found["d3"]
    yield from _tokens(
        int(found["y1"]) if found["y1"] else None,
        int(found["m1"] or found["m2"] or found["m3"]),
        int(day) if day else None,
    )


def _named(found: re.Match[str]) -> Iterator[str]:
    day, name, year = found["d"] or found["d2"], found["m"], found["y"]
    if not (day or year or name.lower() in _ONLY_MONTHS.split()):
        # "may", "march", "mar": months only where the words before say so.
        before = found.string[max(0, found.start() - 12) : found.start()]
        if not (name[0].isupper() and _BARE_MONTH.search(before)):
            return
    month = MONTHS.index(name[:3].lower()) + 1
    yield from _tokens(int(year) if year else None, month, int(day) if day else None)


def _tokens(year: int | None, month: int, day: int | None) -> Iterator[str]:
    try:
        weekday = date(year or 2000, month, day or 1).isoweekday()
    except ValueError:
        return
    if year:
        yield str(year)
    yield f"month:{month}"
    if day:
        yield f"day:{day}"
        if year:
            yield f"weekday:{weekday}"
