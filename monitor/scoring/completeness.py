"""Are all required argument keys present, and none that is neither expected nor allowed?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from monitor.model import JsonValue
from monitor.scoring.values import same
from monitor.verdict import Basis, ExpectedAction, Finding


class Keys(NamedTuple):
    """The outcome of the key comparison, each in a stable order."""

    missing: tuple[str, ...]
    extra: tuple[str, ...]
    score: float
    """Required keys that are present, over required and surplus ones."""


def compared_keys(
    expected: ExpectedAction,
    args: Mapping[str, JsonValue],
    actual: Mapping[str, JsonValue],
    schema: Mapping[str, JsonValue] | None,
) -> Keys:
    """Compare an action's keys with those of one accepted argument object.

    What must be there: the reference's own list, else what the schema requires of the keys that
    the reference uses, else these keys. A default that is left out is not missing.
    """
    properties = properties_of(schema)
    if expected.required is not None:
        required: Iterable[str] = expected.required
    elif schema is not None:
        required = [key for key in args if key in required_of(schema)]
    else:
        required = args
    needed = [
        key
        for key in required
        if key not in expected.optional and not _is_default(args, key, properties)
    ]
    missing = tuple(key for key in needed if key not in actual)
    known = {*args, *expected.optional, *(expected.required or ()), *properties}
    extra = () if is_open(schema) else tuple(key for key in actual if key not in known)
    looked_at = len(needed) + len(extra)
    score = (len(needed) - len(missing)) / looked_at if looked_at else 1.0
    return Keys(missing, extra, score)


def key_findings(keys: Keys, actual: Mapping[str, JsonValue], basis: Basis) -> list[Finding]:
    """One finding per missing and per surplus key."""
    findings = [Finding("missing_parameters", basis, field=key) for key in keys.missing]
    findings += [
        Finding("extra_parameters", basis, field=key, actual=actual[key]) for key in keys.extra
    ]
    return findings


def properties_of(schema: Mapping[str, JsonValue] | None) -> Mapping[str, JsonValue]:
    """The declared properties; empty when the schema declares none."""
    properties = schema.get("properties") if schema else None
    return properties if isinstance(properties, dict) else {}


def required_of(schema: Mapping[str, JsonValue]) -> list[str]:
    """The keys that the schema requires."""
    listed = schema.get("required")
    return [key for key in listed if isinstance(key, str)] if isinstance(listed, list) else []


def is_open(schema: Mapping[str, JsonValue] | None) -> bool:
    """Whether the schema takes keys beyond the declared ones: it says so, or declares none."""
    if schema is None:
        return False
    more = schema.get("additionalProperties")
    if more is False:
        return False
    return (
        more is True
        or isinstance(more, dict)
        or "properties" not in schema
        or "patternProperties" in schema
    )


def _is_default(
    args: Mapping[str, JsonValue], key: str, properties: Mapping[str, JsonValue]
) -> bool:
    declared = properties.get(key)
    return (
        isinstance(declared, dict)
        and key in args
        and "default" in declared
        and same(declared["default"], args[key])
    )
