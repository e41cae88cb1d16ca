"""Vectors on disk, in a small SQLite file, so that a restart encodes nothing twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

STORE_LIMIT: Final = 500_000
"""Vectors kept by default; at 256 dimensions about 160 MB."""
_BATCH: Final = 500


class SqliteVectorStore:
    """A bounded table of int8 vectors by key. It is a cache: damage empties it, nothing fails."""

    def __init__(self, path: Path, limit: int = STORE_LIMIT) -> None:
        """`path` may be an old file; one that is no database of ours is written afresh."""
        self._path = path
        self._limit = limit
        self.failures = 0
        """Reads and writes that the disk refused."""
        self._connection: sqlite3.Connection | None = None

    def load(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Those of the keys that are known; nothing when the disk refuses."""
        found: dict[bytes, bytes] = {}
        try:
            connection = self._open()
            for start in range(0, len(keys), _BATCH):
                batch = keys[start : start + _BATCH]
                marks = ",".join("?" * len(batch))
                found.update(
                    connection.execute(
                        f"SELECT key, vector FROM vectors WHERE key IN ({marks})",  # noqa: S608  # marks only
                        batch,
                    )
                )
        except sqlite3.Error:
            self.failures += 1
        return found

    def save(self, vectors: Mapping[bytes, bytes]) -> None:
        """Keep the vectors; the oldest leave when the limit is passed."""
        try:
            connection = self._open()
            with connection:
                connection.executemany(
                    "INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", vectors.items()
                )
                connection.execute(
                    "DELETE FROM vectors WHERE seq <= (SELECT MAX(seq) FROM vectors) - ?",
                    (self._limit,),
                )
        except sqlite3.Error:
            self.failures += 1

    def close(self) -> None:
        """Let go of the file; a later use opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = _connect(self._path)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                self._path.unlink(missing_ok=True)
                self._connection = _connect(self._path)
        return self._connection


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, check_same_thread=False)
    try:
        # A cache may lose its last moments; it must never slow the path that fills it.
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS vectors ("
            "seq INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, "
            "vector BLOB NOT NULL)"
        )
    except sqlite3.Error:
        connection.close()
        raise
    return connection
