"""Does an argument object satisfy its JSON Schema? The part of the language that tools use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple, TypeGuard

from monitor.model import PLACEHOLDER, JsonValue
from monitor.scoring.values import is_no_double, same

DEPTH_LIMIT: Final = 32
"""Nesting and `$ref` hops; what lies deeper is taken as valid."""
PATTERN_LIMIT: Final = 200
"""Longest `pattern`, and longest text that one is tried on; both come from outside."""


_TYPE_ONLY: Final = frozenset(("type", "title", "description", "default", "example", "examples"))
"""Most parts of most schemas ask for a type only, and have remarks to people beside it."""
_REFERRING: Final = ("$ref", "anyOf", "oneOf", "allOf")


class Violation(NamedTuple):
    """One place at which a value breaks its schema."""

    field: str
    """Dotted path from the arguments' top."""
    actual: JsonValue
    rule: str
    """The schema keyword that was broken."""


def violations(
    schema: Mapping[str, JsonValue], value: JsonValue, field: str, root: Mapping[str, JsonValue]
) -> Iterator[Violation]:
    """Where `value` breaks `schema`; references are resolved in `root`."""
    yield from _walk(schema, value, field, root, 0)


def _walk(
    schema: JsonValue, value: JsonValue, field: str, root: Mapping[str, JsonValue], depth: int
) -> Iterator[Violation]:
    if not isinstance(schema, dict) or not schema or depth > DEPTH_LIMIT:
        return
    kinds = schema.get("type")
    if _is_exempt(schema, value):
        return
    if kinds is not None and not _has_type(value, kinds):
        yield Violation(field, value, "type")
        return
    for keyword in _REFERRING:
        if keyword in schema:
            yield from _combined(keyword, schema, value, field, root, depth)
    yield from _choice(schema, value, field)
    if isinstance(value, dict):
        yield from _object(schema, value, field, root, depth)
    elif isinstance(value, list):
        yield from _array(schema, value, field, root, depth)
    else:
        yield from _scalar(schema, value, field)


def _is_exempt(schema: Mapping[str, JsonValue], value: JsonValue) -> bool:
    """Whether nothing can be held against a value.

    It has the one thing that is asked, a type; or it was redacted, is too large for a number, or
    null where it may be.
    """
    if _TYPE_ONLY.issuperset(schema) and _has_type(value, schema.get("type")):
        return True
    if value is None:
        # As OpenAPI 3.0 says it.
        return schema.get("nullable") is True
    # What was redacted may have had any form, type and range.
    return isinstance(value, str) and (
        PLACEHOLDER.search(value) is not None or _is_unknown_number(value, schema.get("type"))
    )


def _choice(schema: Mapping[str, JsonValue], value: JsonValue, field: str) -> Iterator[Violation]:
    choices = schema.get("enum")
    if isinstance(choices, list) and not any(same(choice, value) for choice in choices):
        yield Violation(field, value, "enum")
    if "const" in schema and not same(schema["const"], value):
        yield Violation(field, value, "const")


def _scalar(schema: Mapping[str, JsonValue], value: JsonValue, field: str) -> Iterator[Violation]:
    if isinstance(value, str):
        yield from _text(schema, value, field)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number(schema, value, field)


def _combined(
    keyword: str,
    schema: Mapping[str, JsonValue],
    value: JsonValue,
    field: str,
    root: Mapping[str, JsonValue],
    depth: int,
) -> Iterator[Violation]:
    if keyword == "$ref":
        yield from _walk(_resolved(schema[keyword], root), value, field, root, depth + 1)
        return
    choices = _list(schema[keyword])
    if keyword == "allOf":
        for choice in choices:
            yield from _walk(choice, value, field, root, depth + 1)
        return
    # `oneOf` is read as `anyOf`: generated schemas overlap without meaning to.
    found = [list(_walk(choice, value, field, root, depth + 1)) for choice in choices]
    if found and all(found):
        inner = min(found, key=len)
        nested = [violation for violation in inner if violation.field != field]
        yield nested[0] if nested else Violation(field, value, keyword)


def _object(
    schema: Mapping[str, JsonValue],
    value: dict[str, JsonValue],
    field: str,
    root: Mapping[str, JsonValue],
    depth: int,
) -> Iterator[Violation]:
    properties, more = schema.get("properties"), schema.get("additionalProperties")
    declared = properties if isinstance(properties, dict) else {}
    for key in _list(schema.get("required")):
        if key not in value:
            yield Violation(f"{field}.{key}", None, "required")
    for key, item in value.items():
        part = declared.get(key, more)
        if isinstance(part, dict) and part:
            yield from _walk(part, item, f"{field}.{key}", root, depth + 1)


def _array(
    schema: Mapping[str, JsonValue],
    value: list[JsonValue],
    field: str,
    root: Mapping[str, JsonValue],
    depth: int,
) -> Iterator[Violation]:
    yield from _range(schema, "minItems", "maxItems", len(value), value, field)
    items = schema.get("items")
    if isinstance(items, dict) and items:
        for index, item in enumerate(value):
            yield from _walk(items, item, f"{field}.{index}", root, depth + 1)


def _text(schema: Mapping[str, JsonValue], value: str, field: str) -> Iterator[Violation]:
    yield from _range(schema, "minLength", "maxLength", len(value), value, field)
    name = schema.get("format")
    form = FORMATS.get(name) if isinstance(name, str) else None
    if form is not None and not form(value):
        yield Violation(field, value, "format")
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and not _matches(pattern, value):
        yield Violation(field, value, "pattern")


def _number(schema: Mapping[str, JsonValue], value: float, field: str) -> Iterator[Violation]:
    yield from _range(schema, "minimum", "maximum", value, value, field)
    low, high = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if _is_number(low) and value <= low:
        yield Violation(field, value, "exclusiveMinimum")
    if _is_number(high) and value >= high:
        yield Violation(field, value, "exclusiveMaximum")
    step = schema.get("multipleOf")
    if _is_number(step) and step > 0 and not _is_multiple(value, step):
        yield Violation(field, value, "multipleOf")


def _is_multiple(value: float, step: float) -> bool:
    try:
        return abs(value / step - round(value / step)) <= 1e-9
    except (OverflowError, ValueError):  # beyond what a float holds: cannot be said
        return True


def _range(
    schema: Mapping[str, JsonValue],
    low: str,
    high: str,
    size: float,
    value: JsonValue,
    field: str,
) -> Iterator[Violation]:
    if low in schema and _is_number(schema[low]) and size < schema[low]:
        yield Violation(field, value, low)
    if high in schema and _is_number(schema[high]) and size > schema[high]:
        yield Violation(field, value, high)


def _has_type(value: JsonValue, kinds: JsonValue) -> bool:
    if isinstance(kinds, str):
        check = _TYPES.get(kinds)
        return check is None or check(value)
    return not isinstance(kinds, list) or any(_has_type(value, kind) for kind in kinds)


def _is_unknown_number(value: str, kinds: JsonValue) -> bool:
    """A number that no double holds is read as its text, and may have been in any range."""
    if kinds is None or _has_type(value, kinds) or not _has_type(0, kinds):
        return False
    return is_no_double(value)


def _is_number(value: JsonValue) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: JsonValue) -> bool:
    """A whole number, however it is spelled: 5.0 is an integer."""
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


_TYPES: Final[dict[str, Callable[[JsonValue], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def _full(pattern: str) -> Callable[[str], bool]:
    return lambda value: re.fullmatch(pattern, value) is not None


_DAY: Final = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
# Tools take the minute alone, which the letter of RFC 3339 does not.
_TIME: Final = r"([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d+)?)?"
_ZONE: Final = r"([Zz]|[+-]\d\d:\d\d)"
FORMATS: Final[dict[str, Callable[[str], bool]]] = {
    "date": _full(_DAY),
    "time": _full(f"{_TIME}{_ZONE}?"),
    "date-time": _full(f"{_DAY}[Tt ]{_TIME}{_ZONE}?"),
    "email": _full(r"[^@\s]+@[^@\s]+\.[^@\s.]+"),
    "uuid": _full(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "uri": _full(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"),
}
"""The formats that are checked; any other is a remark to people."""


def _matches(pattern: str, value: str) -> bool:
    """Whether the pattern occurs; True where trying it could be slow or it is no pattern."""
    if len(pattern) > PATTERN_LIMIT or len(value) > PATTERN_LIMIT or _may_explode(pattern):
        return True
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return True


def _may_explode(pattern: str) -> bool:
    """A repeated group can take exponential time; such patterns are not tried."""
    return re.search(r"\)[*+{]", pattern) is not None


def _resolved(reference: JsonValue, root: Mapping[str, JsonValue]) -> JsonValue:
    """The schema that a local reference names; anything else says nothing."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return {}
    at: JsonValue = root
    for part in reference[1:].split("/")[1:]:
        if not isinstance(at, dict):
            return {}
        at = at.get(part.replace("~1", "/").replace("~0", "~"))
    return at


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
