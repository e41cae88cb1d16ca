"""The pipeline's state as a mapping over the ledger's file."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Final

from monitor.ledger.database import Database, Participant

PAGE_KEYS: Final = 500


class StateStore(Participant, MutableMapping[str, bytes]):
    """Keys to bytes; only what the open transaction changed is held in memory.

    Writes belong to the caller's transaction and are undone with it; reads see them at once.
    Iteration goes by key, page by page, and may be mixed with writes: a key added behind the
    iterator's place is not seen.
    """

    def __init__(self, db: Database) -> None:
        """Share the database with the rest of the ledger."""
        self._db = db
        self._changed: dict[str, bytes | None] = {}
        db.join(self)

    def __getitem__(self, key: str) -> bytes:
        if key in self._changed:
            value = self._changed[key]
        else:
            found = self._db.rows("SELECT value FROM state WHERE key = ?", (key,))
            value = found[0][0] if found else None
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: bytes) -> None:
        self._db.require_transaction()
        self._changed[key] = value

    def __delitem__(self, key: str) -> None:
        self._db.require_transaction()
        if key not in self:
            raise KeyError(key)
        self._changed[key] = None

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        if key in self._changed:
            return self._changed[key] is not None
        return bool(self._db.rows("SELECT 1 FROM state WHERE key = ?", (key,)))

    def __iter__(self) -> Iterator[str]:
        return self.keys_from("")

    def __len__(self) -> int:
        self.before_commit()
        return int(self._db.rows("SELECT count(*) FROM state")[0][0])

    def keys_from(self, prefix: str) -> Iterator[str]:
        """The keys that start with `prefix`, in order."""
        after = prefix
        first = True
        while True:
            self.before_commit()
            found = self._db.rows(
                f"SELECT key FROM state WHERE key {'>=' if first else '>'} ? ORDER BY key LIMIT ?",  # noqa: S608 - only the operator varies
                (after, PAGE_KEYS),
            )
            for (key,) in found:
                if not key.startswith(prefix):
                    return
                yield key
            if len(found) < PAGE_KEYS:
                return
            after = found[-1][0]
            first = False

    def before_commit(self) -> None:
        """Write the changes; called by iteration too, so that one order holds for all keys."""
        if not self._changed:
            return
        written = [item for item in self._changed.items() if item[1] is not None]
        deleted = [(key,) for key, value in self._changed.items() if value is None]
        if written:
            self._db.executemany(
                "INSERT INTO state (key, value) VALUES (?, ?)"
                " ON CONFLICT DO UPDATE SET value = excluded.value",
                written,
            )
        if deleted:
            self._db.executemany("DELETE FROM state WHERE key = ?", deleted)
        self._changed.clear()

    def rolled_back(self) -> None:
        """Forget the changes of the transaction."""
        self._changed.clear()
