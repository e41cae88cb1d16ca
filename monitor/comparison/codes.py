"""Names and codes of units and currencies, and codes of other things, as whole values."""

from __future__ import annotations

import re
from typing import Final

from monitor.comparison.aliases import same_alias
from monitor.comparison.numbers import currency_of
from monitor.comparison.tables import READINGS, STATES, UNITS

_CODE: Final = re.compile(r"[A-Z][A-Z0-9]{1,4}")
_POWERS: Final = (
    (re.compile(r"^(?:square|sq\.?)\s+(.+)$|^(.+?)\s*(?:\^2|²|\*\*2|squared)$"), 2),
    (re.compile(r"^(?:cubic|cu\.?)\s+(.+)$|^(.+?)\s*(?:\^3|³|\*\*3|cubed)$"), 3),
)


def same_code(expected: str, actual: str, field: str | None) -> bool | None:
    """Whether two folded texts name one unit, one currency, or what the field's aliases know.

    None when they are not both such names, or when the name has a second reading.
    """
    alias = same_alias(expected, actual, field)
    if alias is not None:
        return alias
    if expected in UNITS or actual in UNITS or "/" in expected + actual or _power(expected):
        first, second = _unit(expected), _unit(actual)
        if first is not None and second is not None:
            return first == second
    money, other = currency_of(expected), currency_of(actual)
    if money is not None and other is not None:
        return _same_currency(money, other)
    return None


def are_other_codes(expected: str, actual: str) -> bool:
    """Whether both are written as codes, in capitals, and neither may be short for the other."""
    if not (_CODE.fullmatch(expected) and _CODE.fullmatch(actual)):
        return False
    return not expected.startswith(actual) and not actual.startswith(expected)


def is_ambiguous(expected: str, actual: str) -> bool:
    """Whether one text is a code with several readings, of which the other may be one.

    A letter or two stand for a state as readily as for a country, a city or a unit.
    """
    short, long = sorted((expected, actual), key=len)
    if not short.isalpha() or len(long) < len(short) + 2 or short[0] != long[0]:
        return False
    letters = iter(long)
    if not all(char in letters for char in short):
        return False
    return len(short) == 1 or short in STATES


def _same_currency(one: str, other: str) -> bool | None:
    if one == other:
        return True
    for sign, plain in ((one, other), (other, one)):
        if sign in READINGS:
            usual, *rarer = READINGS[sign]
            return True if plain == usual else None if plain in rarer else False
    return False


def _unit(text: str) -> tuple[object, ...] | None:
    parts = re.split(r"\s*/\s*|\s+per\s+", text)
    if len(parts) == 2:
        upper, lower = _unit(parts[0]), _unit(parts[1])
        return ("per", upper, lower) if upper is not None and lower is not None else None
    power = _power(text)
    if power is not None:
        base = UNITS.get(power[0])
        return None if base is None else (*base, power[1])
    found = UNITS.get(text)
    return None if found is None else (*found, 1)


def _power(text: str) -> tuple[str, int] | None:
    for form, power in _POWERS:
        match = form.match(text)
        if match is not None:
            return (match[1] or match[2]).strip(), power
    return None
