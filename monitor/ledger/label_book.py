"""Labels of people, each counted once beside the monitor's own verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final, TypeVar

import msgspec

from monitor.agreement.pairs import Judged, Pair, judged, pair
from monitor.ledger.counters import Counters
from monitor.ledger.database import Database, Participant
from monitor.verdict import HumanLabel, Report

T = TypeVar("T")

PRUNE_ROWS: Final = 5_000
PRUNE_INTERVAL_S: Final = 60.0
FAMILY: Final = "label_pairs"

_PASS_FAIL: Final = {True: "pass", False: "fail"}
_JUDGED: Final = msgspec.msgpack.Decoder(Judged)
_LABEL: Final = msgspec.msgpack.Decoder(HumanLabel)
_ENCODE: Final = msgspec.msgpack.Encoder().encode
_KEEP: Final = "INSERT OR REPLACE INTO judged (key, stamped_s, turns) VALUES (?, ?, ?)"
_KEEP_TRACE: Final = "INSERT OR IGNORE INTO judged_traces (trace_id, key) VALUES (?, ?)"
_BY_KEY: Final = "SELECT turns FROM judged WHERE key = ?"
_BY_TRACE: Final = (
    "SELECT turns FROM judged WHERE key IN (SELECT key FROM judged_traces WHERE trace_id = ?)"
    " ORDER BY stamped_s DESC LIMIT 1"
)
_WAIT: Final = (
    "INSERT OR REPLACE INTO human_labels (label_id, stamped_s, key, trace_id, label)"
    " VALUES (?, ?, ?, ?, ?)"
)
_WAITING: Final = (
    "SELECT label FROM human_labels WHERE label IS NOT NULL AND (key = ? OR trace_id IN"
    " (SELECT trace_id FROM judged_traces WHERE key = ?))"
)
_OLD: Final = "SELECT key FROM judged WHERE stamped_s < ? ORDER BY stamped_s LIMIT ?"
_OLDEST: Final = "SELECT key FROM judged ORDER BY stamped_s, key LIMIT ?"
_OLD_LABELS: Final = (
    "DELETE FROM human_labels WHERE label_id IN"
    " (SELECT label_id FROM human_labels WHERE stamped_s < ? ORDER BY stamped_s LIMIT ?)"
)
_OVER: Final = (
    "DELETE FROM human_labels WHERE label_id IN (SELECT label_id FROM human_labels"
    " WHERE label IS NOT NULL ORDER BY stamped_s, label_id LIMIT ?)"
)


class LabelBook(Participant):
    """Brings labels and verdicts together, whichever of the two comes first.

    A label counts with the verdict that stands when both are there; what is said later under the
    same label id, or in a later revision, does not move the counters. Every method opens its own
    transaction, so any one thread may call it beside the ledger's writer.
    """

    name = "labels"

    def __init__(self, db: Database, keep_s: float, waiting: int, conversations: int) -> None:
        """Both sides are kept for `keep_s`, and no more than so many of them.

        `waiting` bounds the labels without a verdict, `conversations` those that can be labelled;
        the oldest go first.
        """
        self._db = db
        self._keep_s = keep_s
        self._waiting = waiting
        self._conversations = conversations
        self._pruned_s: float | None = None
        self._counters = Counters(db)
        db.join(self)

    def keep(self, reports: Iterable[Report], now: float) -> int:
        """Keep what labels may be held against; the number of waiting labels that now count."""
        counted = 0
        with self._db.transaction():
            for report in reports:
                key = _key(report.conversation_id)
                # The id stands in the key; as text it might not be encodable.
                against = msgspec.structs.replace(judged(report), conversation_id="")
                self._db.execute(_KEEP, (key, now, _ENCODE(against)))
                traces = {turn.trace_id for turn in against.turns if turn.trace_id}
                self._db.executemany(_KEEP_TRACE, [(trace, key) for trace in sorted(traces)])
                for (body,) in self._db.rows(_WAITING, (key, key)):
                    label = _decoded(_LABEL, body)
                    counted += label is not None and self._count(label, against, now)
            self._prune(now)
        return counted

    def offer(self, labels: Sequence[HumanLabel], now: float) -> int:
        """Count the labels that are new and have a verdict, and keep the rest waiting."""
        counted = 0
        with self._db.transaction():
            for label in labels:
                if self._has_counted(label.label_id):
                    continue
                against = self._against(label)
                if against is None or not self._count(label, against, now):
                    self._wait(label, now)
                else:
                    counted += 1
            over = self._over("human_labels WHERE label IS NOT NULL", self._waiting)
            if over:
                self._db.execute(_OVER, (over,))
            self._prune(now)
        return counted

    def before_commit(self) -> None:
        """Write the counters."""
        self._counters.before_commit()

    def committed(self) -> None:
        """The counters are durable."""
        self._counters.committed()

    def rolled_back(self) -> None:
        """Nothing was counted."""
        self._counters.rolled_back()

    def _count(self, label: HumanLabel, against: Judged, now: float) -> bool:
        made = pair(label, against)
        if made is None:
            return False
        self._counters.add(FAMILY, _labels_of(made))
        self._db.execute(_WAIT, (label.label_id, now, None, None, None))
        return True

    def _has_counted(self, label_id: str) -> bool:
        rows = self._db.rows(
            "SELECT 1 FROM human_labels WHERE label_id = ? AND label IS NULL", (label_id,)
        )
        return bool(rows)

    def _against(self, label: HumanLabel) -> Judged | None:
        if label.conversation_id is not None:
            rows = self._db.rows(_BY_KEY, (_key(label.conversation_id),))
        else:
            rows = self._db.rows(_BY_TRACE, (label.trace_id,))
        return _decoded(_JUDGED, rows[0][0]) if rows else None

    def _wait(self, label: HumanLabel, now: float) -> None:
        named = label.conversation_id
        key = None if named is None else _key(named)
        trace_id = label.trace_id if named is None else None
        self._db.execute(_WAIT, (label.label_id, now, key, trace_id, _ENCODE(label)))

    def _prune(self, now: float) -> None:
        every_s = min(PRUNE_INTERVAL_S, self._keep_s)
        if self._pruned_s is not None and 0 <= now - self._pruned_s < every_s:
            return
        self._pruned_s = now
        horizon = now - self._keep_s
        self._forget(_OLD, (horizon, PRUNE_ROWS))
        self._db.execute(_OLD_LABELS, (horizon, PRUNE_ROWS))
        over = self._over("judged", self._conversations)
        if over:
            self._forget(_OLDEST, (over,))

    def _forget(self, keys: str, values: tuple[float, ...]) -> None:
        for table in ("judged_traces", "judged"):
            self._db.execute(f"DELETE FROM {table} WHERE key IN ({keys})", values)  # noqa: S608  ours

    def _over(self, rows: str, most: int) -> int:
        """How many rows are beyond a limit; they are counted as dropped."""
        kept = int(self._db.rows(f"SELECT count(*) FROM {rows}")[0][0])  # noqa: S608  ours
        if kept > most:
            self._counters.add("counts", ("labels_dropped",), kept - most)
        return max(0, kept - most)


def _labels_of(made: Pair) -> tuple[str, str, str]:
    return made.sub_metric, _PASS_FAIL[made.automated], _PASS_FAIL[made.human]


def _key(conversation_id: str) -> bytes:
    text = conversation_id.encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16, person=b"judged").digest()


def _decoded(decoder: msgspec.msgpack.Decoder[T], stored: bytes) -> T | None:
    """None for a damaged row: it costs itself, and no sink must stand still for it."""
    try:
        return decoder.decode(stored)
    except msgspec.MsgspecError:
        return None
