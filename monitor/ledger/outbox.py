"""Reports that wait for the sinks, each sink at its own place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from monitor.ledger.database import Database, Participant
from monitor.model import JsonValue
from monitor.verdict import Report

MAX_ROWS: Final = 100_000

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Report)


class Outbox(Participant):
    """A durable queue of reports with one place per sink; delivery is at least once.

    Beyond `max_rows` the oldest reports are dropped, and counted for every sink that had not taken
    them. A sink seen for the first time starts with the reports appended from then on.
    """

    def __init__(self, db: Database, sinks: Sequence[str], max_rows: int = MAX_ROWS) -> None:
        """Register the sinks by name; places of sinks that are gone are forgotten."""
        self._db = db
        self._max_rows = max_rows
        self._delivered: dict[str, int] = {}
        self._last = 0
        self._first = 1
        self._register(tuple(sinks))
        db.join(self)

    def append(self, reports: Sequence[Report]) -> None:
        """Queue reports for every sink; nothing is kept when there is none."""
        if not self._delivered or not reports:
            return
        self._db.require_transaction()
        self._db.executemany(
            "INSERT INTO outbox (report) VALUES (?)",
            ((_encoded(report),) for report in reports),
        )
        self._last += len(reports)
        if self._last - self._first >= self._max_rows:
            self._drop_oldest()

    def pending(self, sink: str, limit: int) -> list[tuple[int, Report]]:
        """Up to `limit` reports that the sink has not taken, in order, each with its number.

        A row that cannot be read as a report is passed over.
        """
        after = self._delivered[sink]
        found: list[tuple[int, Report]] = []
        while after < self._last and not found:
            rows = self._db.rows(
                "SELECT seq, report FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)
            )
            if not rows:
                break
            for seq, blob in rows:
                try:
                    found.append((seq, _DECODER.decode(blob)))
                except (msgspec.DecodeError, TypeError):
                    continue
            after = rows[-1][0]
        return found

    def delivered(self, sink: str, upto: int) -> None:
        """Remember that the sink has taken everything up to and including number `upto`."""
        self._db.require_transaction()
        if upto > self._delivered[sink]:
            self._delivered[sink] = upto
            self._db.execute("UPDATE sinks SET delivered = ? WHERE name = ?", (upto, sink))

    def prune(self) -> None:
        """Drop what every sink has taken."""
        taken = min(self._delivered.values(), default=self._last)
        if taken >= self._first:
            self._db.require_transaction()
            self._db.execute("DELETE FROM outbox WHERE seq <= ?", (taken,))
            self._first = taken + 1

    def depth(self, sink: str) -> int:
        """Reports that the sink has not taken."""
        return max(self._last - self._delivered[sink], 0)

    def rolled_back(self) -> None:
        """Go back to the places in the file."""
        self._load()

    def _register(self, names: tuple[str, ...]) -> None:
        with self._db.transaction():
            marks = ",".join("?" * len(names))
            self._db.execute(f"DELETE FROM sinks WHERE name NOT IN ({marks})", names)  # noqa: S608 - marks only
            self._db.executemany(
                "INSERT OR IGNORE INTO sinks (name, delivered) VALUES (?, coalesce("
                "(SELECT seq FROM sqlite_sequence WHERE name = 'outbox'), 0))",
                ((name,) for name in names),
            )
        self._load()

    def _load(self) -> None:
        self._delivered = dict(self._db.rows("SELECT name, delivered FROM sinks"))
        last = self._db.rows("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'")
        self._last = last[0][0] if last else 0
        first = self._db.rows("SELECT min(seq) FROM outbox")[0][0]
        self._first = self._last + 1 if first is None else first

    def _drop_oldest(self) -> None:
        upto = self._last - self._max_rows
        for sink, delivered in self._delivered.items():
            lost = upto - max(delivered, self._first - 1)
            if lost > 0:
                self._db.execute(
                    "INSERT INTO counters (family, labels, value) VALUES ('sink_dropped', ?, ?)"
                    " ON CONFLICT DO UPDATE SET value = value + excluded.value",
                    (sink, lost),
                )
                self._delivered[sink] = upto
                self._db.execute("UPDATE sinks SET delivered = ? WHERE name = ?", (upto, sink))
        self._db.execute("DELETE FROM outbox WHERE seq <= ?", (upto,))
        self._first = upto + 1


def _encoded(report: Report) -> bytes:
    try:
        return _ENCODER.encode(report)
    except UnicodeEncodeError:
        # One report's broken text must not keep the others from their commit.
        return _ENCODER.encode(_without_surrogates(msgspec.to_builtins(report)))


def _without_surrogates(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value
