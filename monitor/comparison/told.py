"""Typed values within a reply: whether it tells the accepted date, time or sum, or another."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final, TypeVar

from monitor.comparison.dates import DATE_WITHIN, TIME_WITHIN, Moment, moment_of
from monitor.comparison.measures import measure_of
from monitor.comparison.numbers import Quantity, in_base, quantity_of
from monitor.comparison.tables import READINGS
from monitor.comparison.words import words_of

_Value = TypeVar("_Value", Moment, Quantity)

REPLY_LIMIT: Final = 4_000
"""Characters of a reply that are searched for values."""
FOUND_LIMIT: Final = 40
"""Values of one type that are looked at."""

_SIZE: Final = (
    r"(?:[$€£¥₹]|\b(?:usd|eur|gbp|jpy|inr|cad|aud|chf) ?)\d[\d,]{0,20}(?:\.\d{1,4})?"
    r"(?: (?:thousand|million|billion|trillion)\b)?"
    r"|\b\d[\d,]{0,20}(?:\.\d{1,4})? ?(?:(?:thousand|million|billion|trillion) )?[a-z$€£¥₹°%]{1,12}"
)
_ONE_SIZE: Final = re.compile(_SIZE)
_IN_PARTS: Final = re.compile(rf"(?:{_SIZE})(?: and)? \d{{1,4}} [a-z]{{1,12}}")
"""A size in two units, such as 2 hours and 22 minutes."""
_LETTER: Final = re.compile(r"\d ?[a-z]$")
_RANGE: Final = re.compile(r"\d\s?(?:-|\u2013|to|and|or|&|through|until)\s?$")


def tells_answer(options: Sequence[str], reply: str) -> bool | None:
    """Whether the reply tells an accepted typed value, or only others of its type; None if neither.

    A reply that tells several is right when one of them is; so a date in passing harms nobody.
    """
    text = " ".join(reply[:REPLY_LIMIT].casefold().split())
    verdicts = [_tells(option, text) for option in options]
    if True in verdicts:
        return True
    return False if verdicts and None not in verdicts else None


def _tells(option: str, text: str) -> bool | None:
    due = moment_of(option)
    if due is not None:
        return _moment_told(due, text)
    sized = _quantity(option)
    if sized is None or sized.dimension is None or _has_letter(option):
        return None
    words = " ".join(words_of(text))
    parts = {part: _quantity(part) for part in _within(_IN_PARTS, words)}
    for part in filter(parts.get, parts):
        words = words.replace(part, " ")
    single = [size for size in _within(_ONE_SIZE, words) if not _has_letter(size)]
    return _among(sized, [*parts.values(), *map(_quantity, single)], _same_size)


def _has_letter(text: str) -> bool:
    """Whether one letter is the unit, which has other readings: the 1930s, 5 m."""
    return _LETTER.search(text.casefold()) is not None


def _moment_told(due: Moment, text: str) -> bool | None:
    """Date and time are looked for apart, since a sentence may part them."""
    clock = None
    if due.time is not None:
        clock = _among(due, [*map(moment_of, _within(TIME_WITHIN, text))], _same_clock)
    if not due.dates:
        return clock
    day = _among(due, [*map(moment_of, _within(DATE_WITHIN, text))], _same_day)
    if False in (day, clock):
        return False
    return True if day and (clock or due.time is None) else None


def _within(form: re.Pattern[str], text: str) -> list[str]:
    """What the form finds; nothing where a range is told, since its ends are not the value."""
    found = [*form.finditer(text)][:FOUND_LIMIT]
    if any(_RANGE.search(text, max(one.start() - 6, 0), one.start()) for one in found):
        return []
    return [one[0].strip() for one in found]


def _among(
    due: _Value, found: Sequence[_Value | None], agree: Callable[[_Value, _Value], bool | None]
) -> bool | None:
    """Whether the due value is among those found; None where none can be held against it."""
    verdicts = [agree(due, one) for one in found if one is not None]
    return True if True in verdicts else False if False in verdicts else None


def _same_day(due: Moment, other: Moment) -> bool | None:
    if not other.dates:
        return None
    return any(
        one[1:] == two[1:] and (one[0] == two[0] or None in (one[0], two[0]))
        for one in due.dates
        for two in other.dates
    )


def _same_clock(due: Moment, other: Moment) -> bool | None:
    return None if other.time is None else due.time == other.time


def _quantity(text: str) -> Quantity | None:
    return quantity_of(text) or measure_of(text)


def _same_size(due: Quantity, other: Quantity) -> bool | None:
    if other.dimension is None:
        return None
    if _readings(due.dimension).isdisjoint(_readings(other.dimension)):
        return False if due.dimension in _CURRENCY and other.dimension in _CURRENCY else None
    one, two = in_base(due), in_base(other)
    return abs(one - two) <= Fraction(1, 100) * max(abs(one), abs(two))


def _readings(dimension: str | None) -> frozenset[str | None]:
    return frozenset((dimension, *READINGS.get(dimension or "", ())))


_CURRENCY: Final = frozenset(
    {*READINGS, "USD", "EUR", "GBP", "JPY", "INR", "CAD", "AUD", "CHF", "CNY", "KRW", "MXN"}
)
