"""The second rung: values with a type are compared by its rules, never by resemblance."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from monitor.comparison.aliases import is_airport_of
from monitor.comparison.codes import are_other_codes, is_ambiguous, same_code
from monitor.comparison.dates import (
    calendar_name,
    moment_of,
    month_of,
    names_a_date,
    same_moment,
    split_quarter,
)
from monitor.comparison.kinds import Kind, is_money_field, is_ratio_field, is_version_field
from monitor.comparison.lexical import is_acronym
from monitor.comparison.literals import looks_like_id, same_address, same_id, same_phone
from monitor.comparison.measures import measure_of
from monitor.comparison.numbers import Quantity, in_base, number_of, quantity_of
from monitor.comparison.places import same_place
from monitor.comparison.rung import Pair, decided, different, same, unsure
from monitor.comparison.tables import ALIASES, COUNTRIES, READINGS
from monitor.comparison.words import alias_of, folded, spaced
from monitor.model import JsonValue
from monitor.ports import Hint
from monitor.verdict import Similarity

RELATIVE_TOLERANCE: Final = Fraction(1, 10**9)
"""Absorbs binary floating point, not measurement: 14 kg and 14,001 g differ."""

_TOLERANCE: Final = float(RELATIVE_TOLERANCE)
_FIGURES: Final = frozenset({int, float})
_SAME_NUMBER: Final = same("number")
_OTHER_NUMBER: Final = different("number")
_TRUE: Final = frozenset({"true", "yes", "y", "on", "1", "enabled", "enable"})
_FALSE: Final = frozenset({"false", "no", "n", "off", "0", "disabled", "disable"})
_WORDS: Final = re.compile(r"[^\W_]")
_VERSION: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,4}")
_PADDED: Final = re.compile(r"0\d+\s*$")
_EMPTY: Final = frozenset({"", "null", "none", "n/a", "na", "nil", "undefined"})


class Typed:
    """Decides numbers, money, units, dates, booleans, enums, places, ids, addresses."""

    version = "typed-4"

    def compare(self, pair: Pair) -> Similarity | None:
        """The decision of the value's type; None for text that has none."""
        if pair.expected is None or pair.actual is None:
            return _with_null(pair)
        if pair.expected == "" or pair.actual == "":
            return _with_blank(pair)
        rule = _RULES.get(pair.kind)
        return rule(pair) if rule is not None else None


def _with_blank(pair: Pair) -> Similarity:
    other = pair.actual if pair.expected == "" else pair.expected
    if isinstance(other, str) and folded(other) in _EMPTY:
        return unsure("empty: unsure")
    return different("empty")


def _literal(pair: Pair) -> Similarity:
    if isinstance(pair.expected, str) and isinstance(pair.actual, str):
        return decided(pair.expected.strip() == pair.actual.strip(), "exact")
    return decided(_as_text(pair.expected) == _as_text(pair.actual), "exact")


def _id(pair: Pair) -> Similarity:
    expected, actual = _as_text(pair.expected), _as_text(pair.actual)
    if same_phone(expected, actual) or same_address(expected, actual):
        return same("id")
    return decided(same_id(expected, actual), "id")


def _number(pair: Pair) -> Similarity | None:
    if type(pair.expected) in _FIGURES and type(pair.actual) in _FIGURES:
        return _figures(pair.expected, pair.actual, pair.hint.tolerance)
    expected, actual = quantity_of(pair.expected), quantity_of(pair.actual)
    if expected is None or actual is None:
        if _not_finite(pair.expected) or _not_finite(pair.actual):
            return unsure("number: unsure")
        if (expected is None) == (actual is None):
            return None
        other = pair.actual if actual is None else pair.expected
        # A word for a number ("last", "all") may be right; a symbol or a list is not.
        return unsure("number: unsure") if isinstance(other, str) else different("number")
    return decided(_same_quantity(expected, actual, pair.hint), "number")


def _figures(expected: float, actual: float, tolerance: float | None) -> Similarity:
    if not (math.isfinite(expected) and math.isfinite(actual)):
        return unsure("number: unsure")
    close = math.isclose(expected, actual, rel_tol=_TOLERANCE, abs_tol=_slack(tolerance))
    return _SAME_NUMBER if close else _OTHER_NUMBER


def _date(pair: Pair) -> Similarity | None:
    expected, actual = moment_of(pair.expected), moment_of(pair.actual)
    if expected is not None and actual is not None:
        return decided(same_moment(expected, actual), "date")
    first, second = month_of(pair.expected), month_of(pair.actual)
    if first is not None and second is not None:
        return decided(first == second, "date")
    if isinstance(pair.expected, str) and isinstance(pair.actual, str):
        one, other = calendar_name(pair.expected), calendar_name(pair.actual)
        if one is not None and other is not None:
            return decided(one == other, "date")
    if (expected is None) != (actual is None) and names_a_date(
        pair.actual if actual is None else pair.expected
    ):
        return unsure("date: unsure")
    return None


def _boolean(pair: Pair) -> Similarity | None:
    expected, actual = _truth(pair.expected), _truth(pair.actual)
    if expected is None or actual is None:
        return unsure("boolean: unsure")
    return decided(expected == actual, "boolean")


def _enum(pair: Pair) -> Similarity | None:
    members = (pair.hint.schema or {}).get("enum")
    expected, actual = _member(pair.expected, members), _member(pair.actual, members)
    if expected is not None and actual is not None:
        return decided(expected == actual, "enum")
    first, second = _option(pair.expected), _option(pair.actual)
    if first == second:
        return same("enum")
    return _free(pair) if members is None else None


def _place(pair: Pair) -> Similarity | None:
    if isinstance(pair.expected, str) and isinstance(pair.actual, str):
        verdict = same_place(pair.expected, pair.actual)
        if verdict is not None:
            return decided(verdict, "place")
    return _free(pair)


def _free(pair: Pair) -> Similarity | None:
    """A value of unknown kind: each type that both sides can be read as, surest first."""
    expected, actual = pair.expected, pair.actual
    if isinstance(expected, bool) or isinstance(actual, bool):
        return _boolean(pair)
    if not isinstance(expected, str) or not isinstance(actual, str):
        return _number(pair) or different("type")
    if len(expected) > _READABLE and len(actual) > _READABLE:
        return None
    return (
        _number_pair(pair)
        or _date(pair)
        or _period(pair)
        or _address(pair)
        or _coded(pair)
        or _named(pair)
    )


_READABLE: Final = 254
"""Longer texts on both sides have no type as a whole."""


def _number_pair(pair: Pair) -> Similarity | None:
    if is_version_field(pair.hint.field):
        return _version(pair)
    expected, actual = _measured(pair.expected), _measured(pair.actual)
    if expected is None or actual is None:
        return None
    if bool(_PADDED.match(pair.expected)) != bool(_PADDED.match(pair.actual)):
        # Digits of a code count each; whether 0421 is a figure is not told.
        return unsure("number: unsure") if expected == actual else different("number")
    return decided(_same_quantity(expected, actual, pair.hint), "number")


def _version(pair: Pair) -> Similarity | None:
    """Versions of figures only: 1.10 is not 1.1, and 2.0 may be 2."""
    first, second = (
        text.strip().casefold().removeprefix("v") for text in (pair.expected, pair.actual)
    )
    if not _VERSION.fullmatch(first) or not _VERSION.fullmatch(second):
        return None
    if first == second:
        return same("version")
    return unsure("version: unsure") if _short(first) == _short(second) else different("version")


def _short(version: str) -> list[int]:
    parts = [*map(int, version.split("."))]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return parts


def _measured(text: str) -> Quantity | None:
    return quantity_of(text) or measure_of(text)


def _address(pair: Pair) -> Similarity | None:
    verdict = same_address(pair.expected, pair.actual)
    if verdict is None:
        verdict = same_phone(pair.expected, pair.actual)
    return None if verdict is None else decided(verdict, "address")


def _coded(pair: Pair) -> Similarity | None:
    expected, actual = folded(pair.expected), folded(pair.actual)
    verdict = same_code(expected, actual, pair.hint.field)
    if verdict is not None:
        return decided(verdict, "code")
    if not pair.hint.field or expected in ALIASES or actual in ALIASES:
        return None
    if pair.kind == "place" and (
        is_airport_of(expected, actual) or is_airport_of(actual, expected)
    ):
        return same("code")
    if is_ambiguous(expected, actual) and not _spelled_out(pair):
        return unsure("abbreviation: unsure")
    if are_other_codes(pair.expected.strip(), pair.actual.strip()) and not _one_land(
        expected, actual
    ):
        return different("code")
    return None


def _one_land(expected: str, actual: str) -> bool:
    one, other = COUNTRIES.get(expected, expected), COUNTRIES.get(actual, actual)
    return one == other


def _spelled_out(pair: Pair) -> bool:
    # What may be a state's code is not taken for initials.
    return is_acronym(pair.expected, pair.actual, 3)


def _period(pair: Pair) -> Similarity | None:
    (first, rest), (second, other_rest) = map(
        split_quarter, map(folded, (pair.expected, pair.actual))
    )
    if first is None or second is None or _WORDS.search(rest + other_rest):
        return None
    if first.part == second.part and None in (first.year, second.year) and first != second:
        return unsure("date: unsure")
    return decided(first == second, "date")


def _named(pair: Pair) -> Similarity | None:
    if looks_like_id(pair.expected) and looks_like_id(pair.actual):
        return decided(same_id(pair.expected, pair.actual), "id")
    return None


def _slack(tolerance: float | None) -> float:
    """The tolerance, where it is one."""
    return tolerance if tolerance is not None and 0 < tolerance < math.inf else 0.0


def _same_quantity(expected: Quantity, actual: Quantity, hint: Hint) -> bool | None:
    slack = _slack(hint.tolerance)
    if slack and expected.dimension == actual.dimension:
        unit = in_base(expected._replace(value=Fraction(1)))
        apart = abs(in_base(expected) - in_base(actual))
        if apart <= Fraction(repr(slack)) * unit:
            return True
    field = hint.field
    for one, other in ((expected, actual), (actual, expected)):
        if one.dimension == "percent" and other.dimension is None:
            return _same_share(one.value, other.value, field)
    if expected.dimension == actual.dimension:
        if expected.ambiguous and actual.ambiguous:
            return _close(expected.value, actual.value)
        return _close(in_base(expected), in_base(actual))
    if expected.ambiguous or actual.ambiguous:
        return _same_million(expected, actual, field)
    return _across_dimensions(expected, actual)


def _across_dimensions(expected: Quantity, actual: Quantity) -> bool | None:
    if {expected.dimension, actual.dimension} == {"celsius", "fahrenheit"}:
        return _same_warmth(expected, actual)
    if not _close(expected.value, actual.value):
        return False
    if expected.dimension is None or actual.dimension is None:
        # One side leaves the unit to the field: equal figures may be meant in another unit.
        return None
    if {expected.dimension, actual.dimension} == {"GBP", "mass"}:
        return bool({expected.unit, actual.unit} & {"pound", "pounds"})
    for one, other in (
        (expected.dimension, actual.dimension),
        (actual.dimension, expected.dimension),
    ):
        if one in READINGS:
            # A dollar sign beside a plain "USD" is that; beside another dollar it may be.
            usual, *rarer = READINGS[one]
            return True if other == usual else None if other in rarer else False
    return False


def _same_warmth(one: Quantity, other: Quantity) -> bool | None:
    """Degrees of both scales; what is only rounded apart is left open."""
    celsius, fahrenheit = (one, other) if one.dimension == "celsius" else (other, one)
    apart = abs(celsius.value * 9 / 5 + 32 - fahrenheit.value)
    return True if apart == 0 else None if apart < 1 else False


def _same_share(percent: Fraction, bare: Fraction, field: str | None) -> bool | None:
    as_share, as_figure = _close(percent / 100, bare), _close(percent, bare)
    if not as_share and not as_figure:
        return False
    return True if is_ratio_field(field) else None


def _same_million(expected: Quantity, actual: Quantity, field: str | None) -> bool | None:
    one, other = (expected, actual) if expected.ambiguous else (actual, expected)
    if other.dimension == one.dimension:
        return _close(in_base(one), in_base(other))
    if other.dimension is not None:
        return _close(one.value * 10**6, other.value) and None
    if _close(one.value * 10**6, other.value):
        return True if is_money_field(field) else None
    return None if _close(one.value, other.value) and not is_money_field(field) else False


def _close(one: Fraction, other: Fraction) -> bool:
    if one == other:
        return True
    return abs(one - other) <= RELATIVE_TOLERANCE * max(abs(one), abs(other))


def _with_null(pair: Pair) -> Similarity:
    other = pair.actual if pair.expected is None else pair.expected
    default = (pair.hint.schema or {}).get("default")
    if (isinstance(other, str) and folded(other) in _EMPTY) or other in ([], {}):
        return unsure("null: unsure")
    if default is not None and other == default:
        return unsure("null: unsure")
    return different("null")


def _truth(value: JsonValue) -> bool | None:
    if isinstance(value, bool):
        return value
    text = _as_text(value).strip().casefold()
    return True if text in _TRUE else False if text in _FALSE else None


def _member(value: JsonValue, members: JsonValue) -> str | None:
    if not isinstance(members, list):
        return None
    text = _as_text(value)
    option = _option(value)
    for member in members:
        if _as_text(member) == text:
            return text
    matching = [member for member in members if _option(member) == option]
    return _as_text(matching[0]) if len(matching) == 1 else None


def _option(value: JsonValue) -> str:
    number = number_of(value)
    return str(number) if number is not None else alias_of(spaced(_as_text(value)))


def _as_text(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value)


def _not_finite(value: JsonValue) -> bool:
    return isinstance(value, float) and value - value != 0


_RULES: Final[dict[Kind, Callable[[Pair], Similarity | None]]] = {
    "literal": _literal,
    "id": _id,
    "number": _number,
    "date": lambda pair: _date(pair) or _free(pair),
    "boolean": _boolean,
    "enum": _enum,
    "place": _place,
    "free": _free,
}
