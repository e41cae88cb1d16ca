"""One SQLite file, its transactions and who takes part in them."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias

from monitor.errors import LedgerError, MonitorError, StateError
from monitor.ledger.schema import APPLICATION_ID, MIGRATIONS

Row: TypeAlias = tuple[Any, ...]

MEMORY: Final = ":memory:"
BUSY_TIMEOUT_S: Final = 5.0
CACHED_STATEMENTS: Final = 256
PAGE_BYTES: Final = 8192
"""Of a new file. Larger pages make batches and state cheaper, and small scattered rows dearer."""
CHECKPOINT_PAGES: Final = 2000
"""A commit that finds so many pages in the log pays for their way into the file."""
CACHE_KIB: Final = 8 * 1024
WAL_LIMIT_BYTES: Final = 64 * 1024 * 1024

_CREATE: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_OPERATOR: Final = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_IOERR: "the disk does not answer",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "permission is denied",
    sqlite3.SQLITE_BUSY: "another process is writing to it",
    sqlite3.SQLITE_LOCKED: "another process is writing to it",
    sqlite3.SQLITE_AUTH: "permission is denied",
    sqlite3.SQLITE_NOLFS: "the file system cannot hold it",
}


class Participant:
    """Keeps writes in memory until the transaction that they belong to ends."""

    def before_commit(self) -> None:
        """Write what is kept; still inside the transaction."""

    def committed(self) -> None:
        """What was written is durable."""

    def rolled_back(self) -> None:
        """Forget what was kept and go back to what the file says."""


class Reader:
    """Reads the last committed state, on its own thread, without holding up the writer."""

    def __init__(self, path: str, connection: sqlite3.Connection, lock: threading.RLock) -> None:
        """`lock` is held for the length of a snapshot."""
        self._path = path
        self._connection = connection
        self._lock = lock

    @classmethod
    def open(cls, path: str | Path) -> Reader:
        """Read a ledger that another process may be writing. Raises as `Database.open` does."""
        if not Path(path).is_file():
            raise LedgerError(f"ledger {path}: there is no such file")
        with translated(str(path)):
            connection = _connect(str(path))
            version = _check_schema(connection, str(path))
            if version < len(MIGRATIONS):
                connection.close()
                raise StateError(
                    f"ledger {path}: schema {version} is older than this program's "
                    f"{len(MIGRATIONS)}; `agent-monitor run` brings it forward"
                )
            connection.execute("PRAGMA query_only=ON")
        return cls(str(path), connection, threading.RLock())

    @contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """Every read inside sees the same moment."""
        with self._lock, translated(self._path):
            if self._connection.in_transaction:
                yield self
                return
            self._connection.execute("BEGIN")
            try:
                yield self
            finally:
                self._connection.execute("ROLLBACK")

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query. Raises LedgerError or StateError."""
        with self._lock, translated(self._path):
            return self._connection.execute(sql, values).fetchall()

    def close(self) -> None:
        """Give the connection back."""
        with self._lock:
            self._connection.close()


class Database:
    """One SQLite file: WAL, fsync at every commit, one owner at a time."""

    def __init__(self, path: str, connection: sqlite3.Connection, lock_fd: int | None) -> None:
        """Use `open`."""
        self.path = path
        self._connection = connection
        self._lock_fd = lock_fd
        self._lock = threading.RLock()
        self._participants: list[Participant] = []

    @classmethod
    def open(cls, path: str | Path, *, durable: bool = True) -> Database:
        """Open or create the file and bring its schema up to date.

        `durable=False` leaves out fsync, for files that a run throws away; ":memory:" keeps no
        file at all. Raises LedgerError when the file cannot be used or another process owns it,
        StateError when it is damaged, no ledger, or of a newer schema.
        """
        name = str(path)
        lock_fd = None if name == MEMORY else _own(name)
        try:
            with translated(name):
                connection = _connect(name)
                try:
                    _configure(connection, durable=durable)
                    _migrate(connection, name)
                except BaseException:
                    connection.close()
                    raise
        except BaseException:
            if lock_fd is not None:
                os.close(lock_fd)
            raise
        return cls(name, connection, lock_fd)

    def join(self, participant: Participant) -> None:
        """Tell `participant` of every commit and rollback from now on."""
        self._participants.append(participant)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes inside commit together, durably, or not at all.

        Threads take turns; transactions do not nest. Raises LedgerError or StateError when SQLite
        refuses; nothing was committed then, and the next transaction may be tried.
        """
        with self._lock:
            if self._connection.in_transaction:
                raise RuntimeError("a ledger transaction is open already; they do not nest")
            try:
                with translated(self.path):
                    self._connection.execute("BEGIN IMMEDIATE")
                    yield
                    for participant in self._participants:
                        participant.before_commit()
                    self._connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            for participant in self._participants:
                participant.committed()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._connection.in_transaction

    def execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one statement. A write outside a transaction is a defect of the caller."""
        try:
            return self._connection.execute(sql, values)
        except sqlite3.Error as error:
            _raise_translated(error, self.path)

    def executemany(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        """Run one statement for every row of values."""
        try:
            self._connection.executemany(sql, values)
        except sqlite3.Error as error:
            _raise_translated(error, self.path)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query, including what the open transaction wrote."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            _raise_translated(error, self.path)

    @contextmanager
    def reading(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Iterator[Row]]:
        """Rows of a query one by one, for those that are large."""
        with translated(self.path), closing(self._connection.execute(sql, values)) as cursor:
            yield cursor

    def require_transaction(self) -> None:
        """Raise RuntimeError outside a transaction: the write would stand alone."""
        if not self._connection.in_transaction:
            raise RuntimeError("the ledger is written inside a transaction only")

    def reader(self) -> Reader:
        """A second connection that only reads; over ":memory:" it waits for the writer instead."""
        if self.path == MEMORY:
            return Reader(self.path, self._connection, self._lock)
        return Reader.open(self.path)

    def close(self) -> None:
        """Fold the write-ahead log into the file and give the file free."""
        with self._lock:
            self._connection.close()
            if self._lock_fd is not None:
                os.close(self._lock_fd)
                self._lock_fd = None

    def _roll_back(self) -> None:
        # SQLite has rolled back by itself after some errors, a full disk among them.
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        finally:
            for participant in self._participants:
                participant.rolled_back()


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn SQLite's errors that an operator can mend into the project's own."""
    try:
        yield
    except sqlite3.Error as error:
        _raise_translated(error, path)


def _raise_translated(error: sqlite3.Error, path: str) -> NoReturn:
    better = _as_monitor_error(error, path)
    if better is None:
        raise error
    raise better from error


def _as_monitor_error(error: sqlite3.Error, path: str) -> MonitorError | None:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return None
    if code & 0xFF in _DAMAGE:
        return StateError(
            f"ledger {path}: the file is damaged or no ledger ({error}); restore a copy, or move "
            "the file away to begin anew"
        )
    what = _OPERATOR.get(code & 0xFF)
    if what is None:
        return None
    return LedgerError(f"ledger {path}: {what} ({error}); nothing was committed")


def _connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(
        path,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=CACHED_STATEMENTS,
    )


def _configure(connection: sqlite3.Connection, *, durable: bool) -> None:
    connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
    connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'OFF'}")
    connection.execute("PRAGMA foreign_keys=ON")
    # Full secure deletion would write every released payload a second time.
    connection.execute("PRAGMA secure_delete=FAST")
    connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
    connection.execute(f"PRAGMA journal_size_limit={WAL_LIMIT_BYTES}")


def _own(path: str) -> int:
    """Take the file for this process; given back when the process ends, however it ends."""
    try:
        lock_fd = os.open(f"{path}.lock", _CREATE, 0o600)
    except OSError as error:
        raise LedgerError(f"ledger {path}: its folder cannot be written: {error}") from error
    try:
        fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock_fd)
        raise LedgerError(f"ledger {path}: another process has it open; stop that first") from error
    # SQLite would give a new file, which holds what customers wrote, the rights of the umask.
    with suppress(OSError):
        os.close(os.open(path, _CREATE, 0o600))
    return lock_fd


def _check_schema(connection: sqlite3.Connection, path: str) -> int:
    """The schema's version; 0 for an empty file. Raises StateError for what is not ours."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    empty = not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    if owner != APPLICATION_ID and not (empty and version == 0 and owner == 0):
        raise StateError(f"ledger {path}: an SQLite file of another program; name another path")
    if version > len(MIGRATIONS):
        raise StateError(
            f"ledger {path}: schema {version} is newer than this program's {len(MIGRATIONS)}; "
            "run the newer release, or name another path"
        )
    return version


def _migrate(connection: sqlite3.Connection, path: str) -> None:
    version = _check_schema(connection, path)
    for number, statements in enumerate(MIGRATIONS[version:], start=version + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={number}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
