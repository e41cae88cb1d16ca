"""What the ledger remembers of each conversation, so that nothing is counted twice."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final

import msgspec

from monitor.errors import StateError
from monitor.ledger.database import Database, Participant

PRUNE_ROWS: Final = 5000

_KEY_BYTES: Final = 16
_FIND: Final = (
    "SELECT revision, started_s, counted, stratum, r, a, c, turns FROM conversations WHERE key = ?"
)
_FIND_TOMBSTONE: Final = (
    "SELECT revision, started_s, 1, NULL, 0, 0, 0, NULL FROM tombstones WHERE key = ?"
)
_KEEP: Final = (
    "INSERT OR REPLACE INTO conversations"
    " (key, revision, started_s, counted, stratum, r, a, c, stamped_s, turns)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)"
)
_STAMP: Final = "UPDATE conversations SET stamped_s = ? WHERE stamped_s IS NULL"
_BURY: Final = (
    "INSERT OR REPLACE INTO tombstones (key, revision, started_s, stamped_s)"
    " SELECT key, revision, started_s, stamped_s FROM conversations"
    " WHERE stamped_s < ? AND (counted OR stamped_s < ?) ORDER BY stamped_s, key LIMIT ?"
)
_CLEAR: Final = (
    "DELETE FROM conversations WHERE key IN (SELECT key FROM conversations"
    " WHERE stamped_s < ? AND (counted OR stamped_s < ?) ORDER BY stamped_s, key LIMIT ?)"
)
_FORGET: Final = (
    "DELETE FROM tombstones WHERE key IN"
    " (SELECT key FROM tombstones WHERE stamped_s < ? ORDER BY stamped_s LIMIT ?)"
)
_TURNS: Final = msgspec.msgpack.Decoder(dict[str, int])
_ENCODE: Final = msgspec.msgpack.Encoder().encode


@dataclass(slots=True)
class Memory:
    """One conversation as far as it is counted."""

    revision: int
    started_s: float | None = None
    """The latest start that a folded report told; a later one is another life of the id."""
    counted: int = 0
    """1: it is in the counters of closed conversations; 2: its task's outcome is counted too."""
    stratum: int | None = None
    """Where its roots and at-risk turns stand in the statistics."""
    roots: int = 0
    at_risk: int = 0
    inherited: int = 0
    turns: dict[str, int] | None = field(default_factory=dict)
    """Newest verdict by turn id; None: a tombstone, too old to be corrected."""


class Memories(Participant):
    """Memories by conversation id, read on demand and written once per transaction."""

    def __init__(self, db: Database) -> None:
        """Write to `db`, when the ledger that owns this says so."""
        self._db = db
        self._kept: dict[bytes, Memory] = {}

    def find(self, conversation_id: str) -> Memory | None:
        """The memory of a conversation; None when it is new, or forgotten."""
        key = _key(conversation_id)
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        rows = self._db.rows(_FIND, (key,)) or self._db.rows(_FIND_TOMBSTONE, (key,))
        if not rows:
            return None
        revision, started_s, counted, stratum, roots, at_risk, inherited, turns = rows[0]
        found = (revision, started_s, counted, stratum, roots, at_risk, inherited)
        return Memory(*found, _turns(turns))

    def keep(self, conversation_id: str, memory: Memory) -> None:
        """Remember, from the open transaction's commit on."""
        self._kept[_key(conversation_id)] = memory

    def prune(self, now: float, retain_s: float, tombstone_s: float) -> None:
        """Shrink memories untouched for `retain_s` to tombstones; drop those of `tombstone_s`.

        A conversation that never closed may still get turns, and is kept for `tombstone_s`. Works
        off a bounded number of each at a time. What was folded since the last call is only
        stamped by this one, so that no fold needs a clock.
        """
        self.before_commit()
        self._kept.clear()
        self._db.execute(_STAMP, (now,))
        old = (now - retain_s, now - tombstone_s, PRUNE_ROWS)
        self._db.execute(_BURY, old)
        self._db.execute(_CLEAR, old)
        self._db.execute(_FORGET, (now - tombstone_s, PRUNE_ROWS))

    def before_commit(self) -> None:
        """Write what changed."""
        if self._kept:
            self._db.executemany(
                _KEEP,
                [
                    (key, m.revision, m.started_s, m.counted, m.stratum, *failed, _ENCODE(m.turns))
                    for key, m in self._kept.items()
                    for failed in ((m.roots, m.at_risk, m.inherited),)
                ],
            )

    def committed(self) -> None:
        """The memories are in the file."""
        self._kept.clear()

    def rolled_back(self) -> None:
        """Forget what the transaction changed."""
        self._kept.clear()


def _key(conversation_id: str) -> bytes:
    text = conversation_id.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=_KEY_BYTES).digest()


def _turns(blob: bytes | None) -> dict[str, int] | None:
    if blob is None:
        return None
    try:
        return _TURNS.decode(blob)
    except msgspec.DecodeError as error:
        raise StateError(f"ledger: the turns of a conversation are damaged: {error}") from error
