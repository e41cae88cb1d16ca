"""Accepted batches between their acknowledgement and the commit of what came of them."""

from __future__ import annotations

import struct
import zlib
from typing import Final, NamedTuple

from monitor.ledger.database import Database, Participant

QUARANTINE_ROWS: Final = 100
"""Damaged rows kept for a look; older ones go, their count stays."""

READ_BYTES: Final = 32 * 1024 * 1024
"""One read ends with the batch that reaches this."""

_READ: Final = (
    "SELECT seq, arrived_s, spans, size, crc, payload FROM spool WHERE seq > ? ORDER BY seq LIMIT ?"
)
_HEAD: Final = struct.Struct("<dq")


class SpoolRow(NamedTuple):
    """One accepted batch."""

    seq: int
    arrived_s: float
    spans: int
    payload: bytes


class Spool(Participant):
    """A durable queue in the ledger's file. Numbers rise and are never given twice.

    Writes belong to the caller's transaction. A row whose checksum does not fit is moved aside
    and counted, and reading goes on behind it.
    """

    def __init__(self, db: Database) -> None:
        """Look up what waits from the last run."""
        self._db = db
        self._depth = 0
        self._bytes = 0
        self._last = 0
        self._load()
        db.join(self)

    def append(self, payload: bytes, arrived_s: float, spans: int) -> int:
        """Add a batch; its number. Durable when the caller's transaction has committed."""
        self._db.require_transaction()
        cursor = self._db.execute(
            "INSERT INTO spool (arrived_s, spans, size, crc, payload) VALUES (?, ?, ?, ?, ?)",
            (arrived_s, spans, len(payload), _crc(payload, arrived_s, spans), payload),
        )
        seq = int(cursor.lastrowid or 0)
        self._depth += 1
        self._bytes += len(payload)
        self._last = seq
        return seq

    def read(self, after: int, limit: int) -> list[SpoolRow]:
        """Up to `limit` sound batches behind number `after`, in order; fewer when they are large.

        Not empty as long as there is a sound one. Outside a transaction, damaged rows met on the
        way are quarantined in one of their own.
        """
        rows: list[SpoolRow] = []
        while len(rows) < limit:
            found, damaged = self._look(after, limit - len(rows))
            rows.extend(found)
            if damaged is None or sum(len(row.payload) for row in rows) >= READ_BYTES:
                break
            self._quarantine(damaged)
            after = damaged
        return rows

    def release(self, upto: int) -> None:
        """Drop every batch up to and including number `upto`."""
        self._db.require_transaction()
        gone = self._db.rows(
            "SELECT count(*), coalesce(sum(size), 0) FROM spool WHERE seq <= ?", (upto,)
        )[0]
        if gone[0]:
            self._db.execute("DELETE FROM spool WHERE seq <= ?", (upto,))
            self._depth -= gone[0]
            self._bytes -= gone[1]

    def set_aside(self, seq: int) -> int:
        """Move a batch that nobody can read to the quarantine; the spans it was accepted with."""
        self._db.require_transaction()
        spans = self._db.rows("SELECT spans FROM spool WHERE seq = ?", (seq,))
        self._db.execute(
            "INSERT OR REPLACE INTO quarantine (seq, arrived_s, spans, payload)"
            " SELECT seq, arrived_s, spans, payload FROM spool WHERE seq = ?",
            (seq,),
        )
        self._db.execute("DELETE FROM spool WHERE seq = ?", (seq,))
        self._db.execute(
            "DELETE FROM quarantine WHERE seq <="
            " (SELECT seq FROM quarantine ORDER BY seq DESC LIMIT 1 OFFSET ?)",
            (QUARANTINE_ROWS,),
        )
        self._db.execute(
            "INSERT INTO counters (family, labels, value) VALUES ('quarantined', '', 1)"
            " ON CONFLICT DO UPDATE SET value = value + 1"
        )
        self._load()
        return spans[0][0] if spans and isinstance(spans[0][0], int) else 0

    def depth(self) -> int:
        """Batches that wait."""
        return self._depth

    def bytes(self) -> int:
        """Payload bytes that wait."""
        return self._bytes

    def last(self) -> int:
        """The highest number ever given; 0 before the first."""
        return self._last

    def quarantined(self) -> list[tuple[int, int | None]]:
        """Number and spans of the damaged rows that are kept."""
        found = self._db.rows("SELECT seq, spans FROM quarantine ORDER BY seq")
        return [(seq, spans) for seq, spans in found]

    def rolled_back(self) -> None:
        """Count again from the file."""
        self._load()

    def _load(self) -> None:
        depth, size = self._db.rows("SELECT count(*), coalesce(sum(size), 0) FROM spool")[0]
        last = self._db.rows("SELECT seq FROM sqlite_sequence WHERE name = 'spool'")
        self._depth = depth
        self._bytes = size
        self._last = last[0][0] if last else 0

    def _look(self, after: int, limit: int) -> tuple[list[SpoolRow], int | None]:
        """Sound rows up to the first damaged one, and that one's number."""
        rows: list[SpoolRow] = []
        size_sum = 0
        with self._db.reading(_READ, (after, limit)) as found:
            for seq, arrived_s, spans, size, crc, payload in found:
                if not _is_sound(arrived_s, spans, size, crc, payload):
                    return rows, seq
                rows.append(SpoolRow(seq, arrived_s, spans, payload))
                size_sum += size
                if size_sum >= READ_BYTES:
                    break
        return rows, None

    def _quarantine(self, seq: int) -> None:
        if self._db.in_transaction:
            self.set_aside(seq)
            return
        with self._db.transaction():
            self.set_aside(seq)


def _is_sound(arrived_s: object, spans: object, size: object, crc: object, payload: object) -> bool:
    """Whether a row is what was written; SQLite lets a damaged column have any type."""
    if not isinstance(payload, bytes) or len(payload) != size:
        return False
    if not isinstance(arrived_s, float) or not isinstance(spans, int):
        return False
    try:
        return _crc(payload, arrived_s, spans) == crc
    except struct.error:
        return False


def _crc(payload: bytes, arrived_s: float, spans: int) -> int:
    return zlib.crc32(payload, zlib.crc32(_HEAD.pack(arrived_s, spans)))
