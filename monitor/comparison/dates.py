"""Dates, times and periods; a reading that depends on the locale stays ambiguous."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final, NamedTuple

from monitor.comparison.tables import MONTHS, ORDINALS

LENGTH_LIMIT: Final = 48
"""Longer texts are not read as a date."""

_MONTH: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_TIME: Final = (
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?::(?P<second>\d{2})(?:\.\d+)?)?"
    r"\s*(?P<half>[ap]\.?m\.?)?\s*(?P<zone>z|utc|gmt|[+-]\d{2}:?\d{2})?"
)
_WEEKDAY: Final = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,?\s+)?"
_DAYS: Final = (
    r"(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})",
    rf"(?P<name>{_MONTH})(?:\.?\s+|\.)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:(?:,\s*|\s+)(?P<year>\d{{4}}))?",
    rf"(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?[\s-]+(?P<name>{_MONTH})\.?"
    rf"(?:,?[\s-]+(?P<year>\d{{4}}))?",
)
_FORMS: Final = tuple(
    re.compile(rf"{_WEEKDAY}{form}(?:(?:t|\s+at\s+|,?\s+){_TIME})?") for form in _DAYS
)
_UNNAMED: Final = re.compile(r"\?P<(?:year|month|day|name|sep|hour|minute|second|half|zone)>")
_BARE_DAYS: Final = "|".join(
    _UNNAMED.sub("?:", form.replace("(?P=sep)", "[-/.]")) for form in _DAYS
)
DATE_WITHIN: Final = re.compile(rf"(?<![\w/.-])(?:{_BARE_DAYS})(?![\w/-])")
"""A date with its day, somewhere in a case-folded text; `moment_of` reads what it finds."""
TIME_WITHIN: Final = re.compile(
    r"(?<![\w:.-])\d{1,2}:\d{2}(?:\s*[ap]\.?m\b\.?)?(?![:\w])|(?<![\w:.-])\d{1,2}\s*[ap]\.?m\b\.?"
)
"""A time of day, somewhere in a case-folded text."""
_SLASHED: Final = re.compile(
    rf"(?P<a>\d{{1,2}})([-/.])(?P<b>\d{{1,2}})\2(?P<year>\d{{4}})"
    rf"(?:(?:t|\s+at\s+|,?\s+){_TIME})?"
)
_CLOCK: Final = re.compile(_TIME)
_MONTHLY: Final = re.compile(
    rf"(?P<name>{_MONTH})\.?,?\s+(?P<year>\d{{4}})|(?P<y>\d{{4}})-(?P<m>0[1-9]|1[0-2])"
)
_QUARTER: Final = re.compile(
    r"\b(?:q(?P<a>[1-4])|(?P<b>[1-4])q|(?P<c>first|second|third|fourth|1st|2nd|3rd|4th)[\s-]+"
    r"quarter|quarter\s+(?P<d>[1-4]))(?=$|[\s,'/-]|\d{2}(?:\d{2})?\b)"
)
_YEAR: Final = re.compile(r"(?<![\d.,$])(?:fy\s?)?((?:19|20)\d{2})(?![\d.,]\d|\d)")
_SHORT_YEAR: Final = re.compile(r"^['\s-]{0,2}(\d{2})\b(?!\d)")


_WEEKDAYS: Final = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
)
_SHORT_DAYS: Final = {"tues": "tuesday", "thur": "thursday", "thurs": "thursday"}
_RELATIVE: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|now|next|last|this|coming|(?:mon|tues|wednes|thurs|fri|"
    r"satur|sun)day|weeks?|weekend|morning|noon|afternoon|evening|midnight|"
    rf"{_MONTH})\b"
)


def calendar_name(text: str) -> str | None:
    """The month or day of the week that the text is, whole, full or abbreviated."""
    word = text.strip(" .").casefold()
    if word in MONTHS:
        return f"month {MONTHS[word]}"
    return next((day for day in _WEEKDAYS if word in (day, day[:3])), _SHORT_DAYS.get(word))


def names_a_date(value: object) -> bool:
    """Whether the text speaks of a date or time that it does not spell out, such as next Friday."""
    return (
        isinstance(value, str)
        and len(value) <= LENGTH_LIMIT
        and _RELATIVE.search(value.casefold()) is not None
    )


class Moment(NamedTuple):
    """A date, a time of day, or both; what the text leaves out is None."""

    dates: frozenset[tuple[int | None, int, int]]
    """Year, month, day in each possible reading; empty for a time of day alone."""
    time: tuple[int, int, int] | None = None
    zone_min: int | None = None
    """Offset from UTC in minutes; None when the text names no zone."""
    written: tuple[int, int] | None = None
    """The two figures whose order depends on the locale, as they were written."""


class Period(NamedTuple):
    """A month (part 1 to 12) or a quarter (101 to 104) of a year."""

    year: int | None
    part: int


def moment_of(value: object) -> Moment | None:
    """The date or time that the text is, whole; None when it is anything else."""
    if not isinstance(value, str) or not 3 <= len(value) <= LENGTH_LIMIT:
        return None
    text = value.strip().casefold()
    for form in _FORMS:
        match = form.fullmatch(text)
        if match is not None:
            part = match.groupdict()
            month = int(part["month"]) if part.get("month") else MONTHS[part["name"]]
            day_year = int(part["year"]) if part["year"] else None
            return _moment([(day_year, month, int(part["day"]))], match)
    match = _SLASHED.fullmatch(text)
    if match is not None:
        year, a, b = int(match["year"]), int(match["a"]), int(match["b"])
        found = _moment([(year, a, b), (year, b, a)], match)
        return None if found is None else found._replace(written=(a, b))
    match = _CLOCK.fullmatch(text)
    if match is not None and (match["minute"] or match["half"]):
        return _moment([], match)
    return None


def month_of(value: object) -> Period | None:
    """The month of a year that the text is, whole."""
    if not isinstance(value, str) or len(value) > LENGTH_LIMIT:
        return None
    match = _MONTHLY.fullmatch(value.strip().casefold())
    if match is None:
        return None
    if match["name"]:
        return Period(int(match["year"]), MONTHS[match["name"]])
    return Period(int(match["y"]), int(match["m"]))


def split_quarter(text: str) -> tuple[Period | None, str]:
    """The one quarter that a case-folded text names, and the text without it and its year."""
    found = list(_QUARTER.finditer(text))
    if len(found) != 1:
        return None, text
    match = found[0]
    part = 100 + int(match["a"] or match["b"] or match["d"] or ORDINALS[match["c"]])
    rest = text[match.end() :]
    short = _SHORT_YEAR.match(rest)
    if short is not None:
        return Period(2000 + int(short[1]), part), f"{text[: match.start()]} {rest[short.end() :]}"
    rest = f"{text[: match.start()]} {rest}"
    years = {int(year) for year in _YEAR.findall(rest)}
    if len(years) != 1:
        return (Period(None, part), rest) if not years else (None, text)
    return Period(years.pop(), part), _YEAR.sub(" ", rest)


def same_moment(expected: Moment, actual: Moment) -> bool | None:
    """Whether both name one moment; None where the texts leave it open."""
    if bool(expected.dates) != bool(actual.dates):
        return None
    if not expected.dates:
        return _same_time(expected, actual)
    if expected.zone_min is not None and actual.zone_min is not None:
        return _instant(expected) == _instant(actual)
    if not _compatible(expected, actual):
        return False
    swapped = len(expected.dates) > 1 and expected.written != actual.written
    if swapped or expected.dates != actual.dates:
        return None
    return _same_time(expected, actual)


def _compatible(expected: Moment, actual: Moment) -> bool:
    return any(
        e[1:] == a[1:] and (e[0] == a[0] or e[0] is None or a[0] is None)
        for e in expected.dates
        for a in actual.dates
    )


def _same_time(expected: Moment, actual: Moment) -> bool | None:
    if expected.time == actual.time:
        return True if expected.zone_min == actual.zone_min else None
    midnight = (0, 0, 0)
    if expected.time is None or actual.time is None:
        # A date spelled as its first instant is still that date.
        return True if (expected.time or actual.time) == midnight else None
    if expected.zone_min != actual.zone_min and expected.dates:
        return None
    return False


def _instant(moment: Moment) -> frozenset[datetime]:
    zone = timezone(timedelta(minutes=moment.zone_min or 0))
    return frozenset(
        datetime(year or 1, month, day, *(moment.time or (0, 0, 0)), tzinfo=zone).astimezone(UTC)
        if (year or 1) > 1
        else datetime(2, month, day, *(moment.time or (0, 0, 0)), tzinfo=UTC)
        for year, month, day in moment.dates
    )


def _moment(dates: list[tuple[int | None, int, int]], match: re.Match[str]) -> Moment | None:
    possible = frozenset(date for date in dates if _exists(*date))
    if dates and not possible:
        return None
    if match["hour"] is None:
        return Moment(possible)
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match["half"].startswith("p") else 0)
    elif match["minute"] is None:
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    return Moment(possible, (hour, minute, second), _zone_min(match["zone"]))


def _zone_min(zone: str | None) -> int | None:
    if zone is None:
        return None
    if zone in ("z", "utc", "gmt"):
        return 0
    digits = zone[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:])
    return max(-1439, min(1439, -minutes if zone[0] == "-" else minutes))


def _exists(year: int | None, month: int, day: int) -> bool:
    try:
        datetime(year if year is not None else 2000, month, day, tzinfo=UTC)
    except ValueError:
        return False
    return True
