"""Times as documents write them: ISO text, or a number since the epoch in any unit."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Final

from monitor.model import JsonValue

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_UNITS_NS: Final = ((1e11, 1_000_000_000), (1e14, 1_000_000), (1e17, 1_000))
"""Up to this number it counts in units of so many nanoseconds: seconds, then milli and micro."""
_LATEST_NS: Final = 2**63 - 1


def time_ns(value: JsonValue) -> int:
    """Nanoseconds since the epoch; 0 for what is no time. Text without a zone is UTC."""
    if isinstance(value, str):
        return _from_text(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    if not math.isfinite(value) or value <= 0:
        return 0
    unit = next((unit for limit, unit in _UNITS_NS if value < limit), 1)
    found = value * unit if isinstance(value, int) else round(value * unit)
    return found if found <= _LATEST_NS else 0


def duration_ns(value: JsonValue) -> int | None:
    """A duration given in seconds; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not math.isfinite(value) or not 0 <= value < _LATEST_NS / 1e9:
        return None
    return round(value * 1e9)


def _from_text(text: str) -> int:
    try:
        return time_ns(float(text))
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        found = (moment - _EPOCH) // _MICROSECOND * 1_000
    except OverflowError:
        return 0
    return found if 0 < found <= _LATEST_NS else 0
