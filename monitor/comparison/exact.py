"""The first rung: raw equality, JSON types kept apart."""

from __future__ import annotations

from typing import Final

from monitor.model import JsonValue
from monitor.verdict import Similarity

EXACT: Final = Similarity(1.0, "exact")


def identical(expected: JsonValue, actual: JsonValue) -> bool:
    """Whether both are the same JSON value; `true` is not 1, and NaN is not itself."""
    if type(expected) is not type(actual):
        return False
    if isinstance(expected, dict):
        return len(expected) == len(actual) and all(
            key in actual and identical(value, actual[key]) for key, value in expected.items()
        )
    if isinstance(expected, list):
        return len(expected) == len(actual) and all(map(identical, expected, actual))
    return bool(expected == actual)
