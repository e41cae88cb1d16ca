"""Of several rows of one observation, which is the newest."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from adapters.langfuse.rows import time_ns
from adapters.langfuse.seen import key_of
from monitor.model import JsonValue

ROWS: Final = 1_000_000
_VERSIONS: Final = ("event_ts", "eventTs", "updated_at", "updatedAt")
_TIMES: Final = (
    *("start_time", "startTime", "timestamp", "created_at", "createdAt"),
    *("updated_at", "updatedAt", "event_ts", "eventTs"),
)
_MS: Final = 1_000_000


class Versions:
    """Notes all rows first; then tells the newest of each observation, once."""

    def __init__(self, rows: int = ROWS) -> None:
        """Beyond `rows` observations every row counts as the newest."""
        self._rows = rows
        self._newest: dict[bytes, int] = {}

    def note(self, row: dict[str, JsonValue]) -> None:
        """Take the row's version into account."""
        key, version = key_of(row), _version(row)
        if key in self._newest or len(self._newest) < self._rows:
            self._newest[key] = max(version, self._newest.get(key, -1))

    def is_newest(self, row: dict[str, JsonValue]) -> bool:
        """Whether this is the newest version, and has not been told so before."""
        key = key_of(row)
        newest = self._newest.get(key)
        if newest is None:
            return True
        if _version(row) != newest:
            return False
        # No version is lower than this one, so a repetition is told apart.
        self._newest[key] = -2
        return True


def is_on_edge(row: dict[str, JsonValue], end_ns: int) -> bool:
    """Whether one of the row's times is the last moment of the window."""
    return any(time_ns(row.get(name)) // _MS == end_ns // _MS for name in _TIMES if row.get(name))


def row_digest(row: dict[str, JsonValue]) -> str:
    """The row's identity and version."""
    return blake2b(key_of(row) + str(_version(row)).encode(), digest_size=8).hexdigest()


def _version(row: dict[str, JsonValue]) -> int:
    for name in _VERSIONS:
        if row.get(name):
            return time_ns(row[name])
    return 0
