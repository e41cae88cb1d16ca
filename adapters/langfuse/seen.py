"""Which versions of which observations have been handed on, within bounds."""

from __future__ import annotations

import base64
import binascii
import struct
from hashlib import blake2b
from typing import Final

import msgspec

from adapters.langfuse.rows import time_ns
from monitor.model import JsonValue

ENTRIES: Final = 500_000
STORED: Final = 10_000
_ENTRY: Final = struct.Struct(">8s4sI")
_SECOND_NS: Final = 1_000_000_000
_VERSIONS: Final = ("updatedAt", "updated_at", "eventTs", "event_ts")


class Seen:
    """Remembers the newest version of each (trace id, id)."""

    def __init__(self, entries: int = ENTRIES) -> None:
        """Beyond `entries` those that started first are forgotten, and may come again."""
        self._entries = entries
        self._known: dict[bytes, tuple[bytes, int, int]] = {}
        self.overflowed = 0

    def __len__(self) -> int:
        return len(self._known)

    def is_new(self, row: dict[str, JsonValue], encoded: bytes) -> bool:
        """Whether this version is neither known nor older than the one that is."""
        known = self._known.get(key_of(row))
        if known is None:
            return True
        token, version = known[0], known[1]
        return token != _digest(encoded, 4) and version_of(row) >= version

    def add(self, row: dict[str, JsonValue], encoded: bytes, start_ns: int) -> None:
        """Remember that this version was accepted."""
        start_s = min(max(0, start_ns // _SECOND_NS), 2**32 - 1)
        self._known[key_of(row)] = (_digest(encoded, 4), version_of(row), start_s)
        if len(self._known) > self._entries:
            self.overflowed += len(self._known) - self._entries * 9 // 10
            latest = self._latest(self._entries * 9 // 10)
            self._known = {key: self._known[key] for key in latest}

    def forget_before(self, start_ns: int) -> None:
        """Forget what started earlier."""
        limit_s = start_ns // _SECOND_NS
        self._known = {key: told for key, told in self._known.items() if told[2] >= limit_s}

    def stored(self) -> str:
        """The latest entries as text."""
        return base64.b64encode(
            b"".join(
                _ENTRY.pack(key, self._known[key][0], self._known[key][2])
                for key in self._latest(STORED)
            )
        ).decode()

    def restore(self, text: str) -> None:
        """Take entries of `stored`; damaged ones are left out, and may come again."""
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return
        whole = len(data) // _ENTRY.size * _ENTRY.size
        for key, token, start_s in _ENTRY.iter_unpack(data[:whole]):
            self._known[key] = (token, 0, start_s)

    def _latest(self, count: int) -> list[bytes]:
        if len(self._known) <= count:
            return sorted(self._known)
        ordered = sorted(self._known, key=lambda key: (self._known[key][2], key))
        return ordered[-count:]


def encoded_row(row: JsonValue) -> bytes:
    """The row as bytes, equal for equal rows."""
    try:
        return msgspec.msgpack.encode(row, order="deterministic")
    except (OverflowError, UnicodeEncodeError, RecursionError):
        return repr(row)[:1_000_000].encode("utf-8", "replace")


def key_of(row: dict[str, JsonValue]) -> bytes:
    """The identity of the observation."""
    trace_id = row.get("traceId") or row.get("trace_id") or ""
    return _digest(f"{trace_id}\n{row.get('id')}".encode("utf-8", "replace"), 8)


def version_of(row: dict[str, JsonValue]) -> int:
    """When the row was last written; of several the highest counts. 0: the row does not say."""
    return max(time_ns(row.get(name)) for name in _VERSIONS)


def _digest(data: bytes, size: int) -> bytes:
    return blake2b(data, digest_size=size).digest()
