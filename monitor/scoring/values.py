"""JSON values as leaves: flattened with dotted paths, and in one form that compares by `==`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isinf
from typing import Final

import msgspec

from monitor.model import JsonValue

LEAF_LIMIT: Final = 2_000
"""Leaves of one value that are looked at; what lies beyond is left out."""
DEPTH_LIMIT: Final = 32
_NESTED: Final = (dict, list)
_NUMBER: Final = re.compile(r"-?[0-9]{1,400}(?:\.[0-9]{1,400})?[eE]\+?[0-9]{1,18}")


def unwrapped(value: JsonValue) -> JsonValue:
    """The value, decoded when it is JSON text: the same answer reaches us as either."""
    if isinstance(value, str):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return value
    return value


def canonical(value: JsonValue) -> JsonValue:
    """A hashable form in which 5 equals 5.0 but neither True nor "5"; key order is lost."""
    if isinstance(value, dict):
        return ("{}", *sorted((key, canonical(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return ("[]", *map(canonical, value))
    if isinstance(value, bool):
        return ("bool", value)
    return value


def same(left: JsonValue, right: JsonValue) -> bool:
    """Whether two values are equal as JSON; 5 equals 5.0, True does not equal 1."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def leaves(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Dotted path and value of every scalar, in the value's own order, up to the limits."""
    stack: list[tuple[str, JsonValue, int]] = [("", value, 0)]
    count = 0
    while stack and count < LEAF_LIMIT:
        path, item, depth = stack.pop()
        if not isinstance(item, _NESTED):
            count += 1
            yield path, item
        elif depth < DEPTH_LIMIT:
            children = item.items() if isinstance(item, dict) else enumerate(item)
            stack.extend(
                reversed(
                    [(f"{path}.{key}" if path else f"{key}", v, depth + 1) for key, v in children]
                )
            )


def is_empty(value: JsonValue) -> bool:
    """Whether a decoded result holds nothing: no scalar but zero, false, null and empty text."""
    return not any(leaf not in (None, False, 0, "") for _, leaf in leaves(value))


def is_no_double(text: str) -> bool:
    """Whether a text is how a number that no double holds is kept: `1e400`, `NaN`, `-Infinity`."""
    if text in ("NaN", "Infinity", "-Infinity"):
        return True
    return _NUMBER.fullmatch(text) is not None and isinf(float(text))


def plain(value: JsonValue) -> str:
    """A scalar as text in the form by which it is recognised elsewhere: 5.0 is "5"."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).strip().casefold()
