"""The named limits that hold while a payload is decoded."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from monitor.errors import ConfigurationError


class DecodeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one payload, and one span in it, may hold.

    `body_bytes` and `items` refuse the whole payload, the others one span. The name of the
    field is the name by which a refusal is reported and counted.
    """

    body_bytes: int = 20 * 1024 * 1024
    """Of the inflated payload."""
    items: int = 200_000
    """Spans, log records, attributes, events and links in one payload. Counted on the wire."""
    attributes: int = 4_096
    """Per span, event or log record: numbered conventions need thousands."""
    events: int = 4_096
    """Per span."""
    value_bytes: int = 1024 * 1024
    """Of one attribute's value; what no vocabulary reads is not counted."""
    value_items: int = 50_000
    """Elements of one structured attribute value, or objects and lists in a JSON one."""
    nesting: int = 64
    """Depth of one attribute's value."""
    index: int = 10_000
    """Highest number in a numbered attribute name."""


def decode_limits(given: DecodeLimits | Mapping[str, int] | None) -> DecodeLimits:
    """Limits from a mapping of field names, the defaults for the rest.

    Raises ConfigurationError for an unknown name or a value below 1.
    """
    if given is None:
        return DecodeLimits()
    if isinstance(given, DecodeLimits):
        return given
    unknown = set(given) - set(DecodeLimits.__struct_fields__)
    if unknown:
        raise ConfigurationError(
            f"no decode limit is called {', '.join(sorted(unknown))}; the operator must mend it"
        )
    if any(value < 1 for value in given.values()):
        raise ConfigurationError("a decode limit is below 1; the operator must mend it")
    return DecodeLimits(**given)
