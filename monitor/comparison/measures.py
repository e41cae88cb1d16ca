"""Measures in parts, fractions and words: `1h 30m`, `PT90M`, `1/2 cup`, `half an hour`."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from monitor.comparison.numbers import Quantity
from monitor.comparison.tables import UNITS

LENGTH_LIMIT: Final = 60
"""Longer texts are not read as a measure."""

_PERIOD: Final = re.compile(
    r"p(?:(\d{1,6})w)?(?:(\d{1,6})d)?(?:t(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6}(?:\.\d{1,6})?)s)?)?"
)
_SECONDS: Final = (604_800, 86_400, 3_600, 60, 1)
_PART: Final = re.compile(r"(\d{1,9}(?:\.\d{1,6})?) ?([a-z]{1,12})\.?(?:,? and |, | |(?=\d)|\Z)")
_FRACTION: Final = re.compile(r"(?:(\d{1,6})[ -])?(\d{1,4})[/\u2044](\d{1,4}) ([a-z]{1,12})\.?")
_WORDED: Final = re.compile(
    r"(half an?|an?|one|a half|an?(?= [a-z]+ and a half)) ([a-z]{1,12})( and a half)?"
)
_WORDS: Final = ("p", "half ", "a ", "an ", "one ")
_MINUTE: Final = Fraction(60)


def measure_of(text: str) -> Quantity | None:
    """The whole of a measure that is more than a number and a unit; None for anything else."""
    if len(text) > LENGTH_LIMIT:
        return None
    plain = " ".join(text.casefold().split())
    if not plain[:1].isdigit() and not plain.startswith(_WORDS):
        return None
    return _period(plain) or _fraction(plain) or _worded(plain) or _parts(plain)


def _period(text: str) -> Quantity | None:
    found = _PERIOD.fullmatch(text)
    if found is None or not any(found.groups()):
        return None
    told = zip(found.groups(), _SECONDS, strict=True)
    return Quantity(sum((Fraction(n) * s for n, s in told if n), Fraction(0)), "time", "s")


def _fraction(text: str) -> Quantity | None:
    found = _FRACTION.fullmatch(text)
    if found is None or found[4] not in UNITS or int(found[3]) == 0:
        return None
    value = Fraction(int(found[2]), int(found[3])) + int(found[1] or 0)
    return Quantity(value, UNITS[found[4]][0], found[4])


def _worded(text: str) -> Quantity | None:
    found = _WORDED.fullmatch(text)
    if found is None or found[2] not in UNITS:
        return None
    value = Fraction(1, 2) if "half" in found[1] else Fraction(1)
    if found[3]:
        value += Fraction(1, 2)
    return Quantity(value, UNITS[found[2]][0], found[2])


def _parts(text: str) -> Quantity | None:
    """Parts of falling size of one dimension; `m` after hours is minutes."""
    total, at, last = Fraction(0), 0, None
    dimension = None
    count = 0
    while at < len(text):
        found = _PART.match(text, at)
        if found is None or found[2] not in UNITS:
            return None
        kind, factor = UNITS[found[2]]
        if found[2] == "m" and dimension == "time":
            kind, factor = "time", _MINUTE
        if (dimension is not None and kind != dimension) or (last is not None and factor >= last):
            return None
        total, dimension, last = total + Fraction(found[1]) * factor, kind, factor
        at, count = found.end(), count + 1
    if count < 2 or dimension is None:
        return None
    base = next(unit for unit, (kind, factor) in UNITS.items() if kind == dimension and factor == 1)
    return Quantity(total, dimension, base)
