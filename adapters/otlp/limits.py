"""The named limits that hold while a payload is decoded."""

from __future__ import annotations

import msgspec


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
