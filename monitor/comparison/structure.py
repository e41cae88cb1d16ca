"""Objects by key and lists by best assignment: one wrong leaf makes the whole value wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from monitor.comparison.kinds import FIELD_LIMIT, field_words
from monitor.comparison.rung import different, same, unsure
from monitor.comparison.tables import split
from monitor.model import JsonValue
from monitor.ports import Hint
from monitor.verdict import Similarity

DEPTH_LIMIT: Final = 64
"""Deeper values are not compared."""
ASSIGNMENT_LIMIT: Final = 64
"""Longer lists are compared in order only."""
_ORDERED: Final = frozenset(
    split(
        "order ordered sequence steps route path waypoints coordinates coordinate range ranking "
        "stops vector point bbox interval bounds matrix polynomial coefficients"
    )
)
_LOW: Final = 0.5

Compare = Callable[[JsonValue, JsonValue, Hint], Similarity]


class Leaves:
    """Compares containers by comparing their leaves with `compare`."""

    def __init__(self, compare: Compare) -> None:
        """`compare` decides each leaf and calls back for nested containers."""
        self._compare = compare
        self._depth = 0

    def compare(self, expected: JsonValue, actual: JsonValue, hint: Hint) -> Similarity:
        """The worst leaf's similarity."""
        if self._depth >= DEPTH_LIMIT:
            return unsure("depth: unsure")
        self._depth += 1
        try:
            if isinstance(expected, dict) and isinstance(actual, dict):
                return self._objects(expected, actual, hint)
            if isinstance(expected, list) and isinstance(actual, list):
                return self._lists(expected, actual, hint)
            return self._mixed(expected, actual, hint)
        finally:
            self._depth -= 1

    def _objects(
        self, expected: dict[str, JsonValue], actual: dict[str, JsonValue], hint: Hint
    ) -> Similarity:
        found = []
        for key, value in expected.items():
            below = _below(hint, key)
            if key in actual or value is not None:
                found.append(self._compare(value, actual.get(key), below))
        return worst(found) if expected else different("keys") if actual else same("exact")

    def _lists(self, expected: list[JsonValue], actual: list[JsonValue], hint: Hint) -> Similarity:
        below = _item(hint)
        if len(expected) != len(actual):
            return different("length")
        if _same_texts(expected, actual) and _order_free(expected, hint):
            return same("set")
        in_order = worst(
            [self._compare(e, a, below) for e, a in zip(expected, actual, strict=True)]
        )
        if in_order.score is not None and in_order.score >= _LOW:
            return in_order
        if len(expected) > ASSIGNMENT_LIMIT or not _order_free(expected, hint):
            return in_order
        return self._assigned(expected, actual, below, in_order)

    def _assigned(
        self,
        expected: list[JsonValue],
        actual: list[JsonValue],
        below: Hint,
        in_order: Similarity,
    ) -> Similarity:
        """The list as a set, when each value finds a partner that means the same."""
        table = [[self._compare(e, a, below).score for a in actual] for e in expected]
        partners = matched([[s is not None and s >= _LOW for s in row] for row in table])
        if partners is None:
            open_ = matched([[s is None or s >= _LOW for s in row] for row in table])
            return in_order if open_ is None else unsure("list: unsure")
        scores = [table[row][column] for row, column in enumerate(partners)]
        return Similarity(min(s for s in scores if s is not None), "set")

    def _mixed(self, expected: JsonValue, actual: JsonValue, hint: Hint) -> Similarity:
        """A container against a scalar: one item may be written without its list."""
        if isinstance(expected, str) or isinstance(actual, str):
            one, other = opened(expected, actual) or (expected, actual)
            if type(one) is type(other):
                return self._compare(one, other, hint)
        for one, other in ((expected, actual), (actual, expected)):
            if isinstance(one, list) and not isinstance(other, list | dict) and len(one) == 1:
                return self._compare(one[0], other, _item(hint))
        return different("type")


def worst(found: list[Similarity]) -> Similarity:
    """The lowest score, unless a leaf is unsure and none is plainly wrong."""
    scored = [s for s in found if s.score is not None]
    lowest = min(scored, key=lambda s: s.score or 0.0, default=None)
    if lowest is not None and lowest.score is not None and lowest.score < _LOW:
        return lowest
    open_ = next((s for s in found if s.score is None), None)
    return open_ or lowest or same("exact")


def opened(expected: JsonValue, actual: JsonValue) -> tuple[JsonValue, JsonValue] | None:
    """Both sides with JSON text decoded, when that gives two containers; else None."""
    one, other = _decoded(expected), _decoded(actual)
    if one is expected and other is actual:
        return None
    if isinstance(one, dict | list) and type(one) is type(other):
        return one, other
    return None


def matched(allowed: list[list[bool]]) -> list[int] | None:
    """A column for each row such that all pairs are allowed; None when there is none."""
    owner: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column, fits in enumerate(allowed[row]):
            if fits and column not in tried:
                tried.add(column)
                if column not in owner or place(owner[column], tried):
                    owner[column] = row
                    return True
        return False

    if not all(place(row, set()) for row in range(len(allowed))):
        return None
    return sorted(owner, key=lambda column: owner[column])


def _decoded(value: JsonValue) -> JsonValue:
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return value


def _same_texts(expected: list[JsonValue], actual: list[JsonValue]) -> bool:
    """Whether both hold the same texts, as often, in any order."""
    if not all(isinstance(value, str) for value in (*expected, *actual)):
        return False
    return sorted(map(str, expected)) == sorted(map(str, actual))


def _order_free(values: list[JsonValue], hint: Hint) -> bool:
    if (hint.schema or {}).get("uniqueItems") is True:
        return True
    if hint.field and not _ORDERED.isdisjoint(field_words(hint.field[-FIELD_LIMIT:])):
        return False
    # Figures stand for a point or a range more often than for a set.
    return not any(isinstance(value, int | float | list) for value in values)


def _below(hint: Hint, key: str) -> Hint:
    properties = (hint.schema or {}).get("properties")
    schema = properties.get(key) if isinstance(properties, dict) else None
    field = f"{hint.field}.{key}" if hint.field else key
    return hint._replace(
        field=field, kind=None, schema=schema if isinstance(schema, Mapping) else None
    )


def _item(hint: Hint) -> Hint:
    schema = (hint.schema or {}).get("items")
    return hint._replace(schema=schema if isinstance(schema, Mapping) else None)
