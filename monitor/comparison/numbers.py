"""Numbers as people and programs write them: separators, magnitudes, words, money, units."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NamedTuple

from monitor.comparison.tables import (
    CURRENCIES,
    CURRENCY_SYMBOLS,
    MAGNITUDES,
    NUMBER_WORDS,
    SCALE_WORDS,
    UNITS,
)

LONG_UNITS: Final = {
    "degrees celsius": "celsius",
    "degrees fahrenheit": "fahrenheit",
    "degree celsius": "celsius",
    "degree fahrenheit": "fahrenheit",
    "degrees c": "celsius",
    "degrees f": "fahrenheit",
    "kilometers per hour": "km/h",
    "kilometres per hour": "km/h",
    "km per hour": "km/h",
    "miles per hour": "mph",
}
"""Units of several words, and how they are written for short."""
LENGTH_LIMIT: Final = 80
"""Longer texts are not read as a number."""

_PLAIN: Final = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?")
_THOUSANDS: Final = re.compile(r"[+-]?\d{1,3}(?:[,_' ]\d{3})+(?:\.\d+)?")
_CONTINENTAL: Final = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+,\d+|[+-]?\d+,\d{1,2}|[+-]?\d+,\d{4,}")
_LEADING_POINT: Final = re.compile(r"[+-]?\.\d+")
_PARTS: Final = re.compile(
    r"(?P<sign>[+-])?\s*(?P<before>[^\d\s.,+-]{0,4}|[A-Za-z]{3})\s*"
    r"(?P<number>[+-]?(?:\d[\d,._' ]*\d|\d|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*"
    r"(?P<after>[^\d].{0,24})?",
    re.DOTALL,
)


class Quantity(NamedTuple):
    """A number with what it counts."""

    value: Fraction
    dimension: str | None = None
    """length, mass, ..., percent, or a currency code; None for a bare number."""
    unit: str | None = None
    ambiguous: bool = False
    """The unit has two readings, such as `m` for metre or million."""


def number_of(value: object) -> Fraction | None:
    """The exact value of a JSON number or of a text that is nothing but a number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        # The shortest decimal, so that 0.1 is a tenth; not finite is not a number.
        return Fraction(repr(value)) if value - value == 0 else None
    return _digits(value.strip()) if isinstance(value, str) else None


def quantity_of(value: object) -> Quantity | None:
    """The number, its magnitude applied and its unit named; None when it is anything else."""
    bare = number_of(value)
    if bare is not None:
        return Quantity(bare)
    if not isinstance(value, str) or len(value) > LENGTH_LIMIT:
        return None
    text = value.strip().replace("\u2212", "-").replace("\u00a0", " ")
    match = _PARTS.fullmatch(text)
    if match is None:
        return _spelled(text.casefold())
    number = _digits(match["number"].strip())
    if number is None:
        return None
    if match["sign"] == "-":
        number = -number
    return _measured(number, match["before"].strip(), (match["after"] or "").strip())


def _measured(number: Fraction, before: str, after: str) -> Quantity | None:
    currency = currency_of(before) if before else None
    if before and currency is None:
        return None
    word = " ".join(after.casefold().rstrip(".").split())
    word = LONG_UNITS.get(word, word)
    head, _, rest = word.partition(" ")
    ambiguous = False
    if head in MAGNITUDES and (currency is not None or head not in UNITS or rest):
        number, word = number * MAGNITUDES[head], rest.strip()
    elif currency is None and word in MAGNITUDES:
        ambiguous = True
    if not word:
        return Quantity(number, currency, currency)
    if currency is not None:
        return Quantity(number, currency, currency) if currency_of(word) == currency else None
    if word in UNITS:
        dimension, _ = UNITS[word]
        return Quantity(number, dimension, word, ambiguous)
    currency = currency_of(word)
    return None if currency is None else Quantity(number, currency, currency)


def currency_of(text: str) -> str | None:
    """The currency code that a sign, code or name stands for; with `?` where it has readings."""
    symbol = CURRENCY_SYMBOLS.get(text)
    return symbol if symbol is not None else CURRENCIES.get(text.casefold())


def in_base(quantity: Quantity) -> Fraction:
    """The value in its dimension's base unit."""
    if quantity.unit is None or quantity.unit not in UNITS:
        return quantity.value
    return UNITS[quantity.unit][1] * quantity.value


def _digits(text: str) -> Fraction | None:
    if len(text) > LENGTH_LIMIT:
        return None
    if _PLAIN.fullmatch(text) or _LEADING_POINT.fullmatch(text):
        return Fraction(text)
    if _THOUSANDS.fullmatch(text):
        return Fraction(re.sub(r"[,_' ]", "", text))
    if _CONTINENTAL.fullmatch(text):
        return Fraction(text.replace(".", "").replace(",", "."))
    return None


def _spelled(text: str) -> Quantity | None:
    words = re.sub(r"[-,]", " ", text).split()
    if not words or len(words) > 16:
        return None
    if len(words) > 1 and words[0] in NUMBER_WORDS and words[-1] in UNITS:
        bare = _spelled(" ".join(words[:-1]))
        return (
            None if bare is None else bare._replace(dimension=UNITS[words[-1]][0], unit=words[-1])
        )
    total, current, seen = 0, 0, False
    for word in words:
        if word == "and" and seen:
            continue
        if word in NUMBER_WORDS:
            current += NUMBER_WORDS[word]
        elif word == "hundred" and seen:
            current *= 100
        elif word in SCALE_WORDS and seen:
            total, current = total + current * SCALE_WORDS[word], 0
        else:
            return None
        seen = True
    return Quantity(Fraction(total + current))
