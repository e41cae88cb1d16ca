"""The file: who may open it, what a transaction promises, what is said when it fails."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from building_reports import abandon, passed, report

from monitor.errors import LedgerError, StateError
from monitor.ledger.database import Database, Reader
from monitor.ledger.schema import MIGRATIONS
from monitor.ledger.spool import Spool
from monitor.ledger.totals import Ledger


def insert(db: Database, source: str) -> None:
    db.execute("INSERT INTO positions (source, position) VALUES (?, 1)", (source,))


def sources(db: Database | Reader) -> list[str]:
    return [source for (source,) in db.rows("SELECT source FROM positions ORDER BY source")]


def test_a_file_is_durable_by_default(tmp_path: Path) -> None:
    db = Database.open(tmp_path / "ledger.db")

    assert db.rows("PRAGMA journal_mode") == [("wal",)]
    assert db.rows("PRAGMA synchronous") == [(2,)]
    assert db.rows("PRAGMA foreign_keys") == [(1,)]
    assert db.rows("PRAGMA user_version") == [(len(MIGRATIONS),)]
    db.close()


def test_only_its_owner_may_read_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    db = Database.open(path)
    with db.transaction():
        insert(db, "a")

    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
    db.close()


def test_a_transaction_commits_whole_or_not_at_all(tmp_path: Path) -> None:
    db = Database.open(tmp_path / "ledger.db")
    with db.transaction():
        insert(db, "a")
    abandon(db, lambda: insert(db, "b"))

    assert sources(db) == ["a"]
    db.close()
    again = Database.open(tmp_path / "ledger.db")
    assert sources(again) == ["a"]
    again.close()


def test_transactions_do_not_nest() -> None:
    db = Database.open(":memory:")

    def nested() -> None:
        with db.transaction(), db.transaction():
            pass

    with pytest.raises(RuntimeError, match="do not nest"):
        nested()
    with db.transaction():
        insert(db, "a")
    assert sources(db) == ["a"]
    db.close()


@pytest.mark.parametrize("where", ["file", ":memory:"])
def test_a_reader_sees_the_last_commit_and_one_moment(tmp_path: Path, where: str) -> None:
    db = Database.open(tmp_path / "l.db" if where == "file" else where)
    reader = db.reader()
    with db.transaction():
        insert(db, "a")
    assert sources(reader) == ["a"]

    if where == "file":
        with db.transaction():
            insert(db, "b")
            assert sources(reader) == ["a"]
        with reader.snapshot() as view:
            assert sources(view) == ["a", "b"]
            with db.transaction():
                insert(db, "c")
            assert sources(view) == ["a", "b"]
        assert sources(reader) == ["a", "b", "c"]
        reader.close()
    db.close()


def test_a_reader_on_another_thread_waits_for_a_writer_in_memory() -> None:
    db = Database.open(":memory:")
    reader = db.reader()
    seen: list[list[str]] = []
    thread = threading.Thread(target=lambda: seen.append(sources(reader)))
    with db.transaction():
        insert(db, "a")
        thread.start()
        insert(db, "b")
    thread.join(timeout=10)

    assert seen == [["a", "b"]]
    db.close()


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    db = Database.open(tmp_path / "ledger.db")
    reader = Reader.open(tmp_path / "ledger.db")

    with pytest.raises(LedgerError, match="read-only"):
        reader.rows("DELETE FROM positions")
    reader.close()
    db.close()


def test_a_reader_of_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="no such file"):
        Reader.open(tmp_path / "absent.db")


def test_a_second_owner_is_refused_and_welcome_after_the_first(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    db = Database.open(path)
    with pytest.raises(LedgerError, match="another process has it open"):
        Database.open(path)
    db.close()

    Database.open(path).close()


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    db = Database.open(path)
    db.execute(f"PRAGMA user_version={len(MIGRATIONS) + 1}")
    db.close()

    with pytest.raises(StateError, match="is newer than this program's"):
        Database.open(path)


def test_an_older_schema_is_brought_forward(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.db"
    db = Database.open(path)
    with db.transaction():
        insert(db, "kept")
    db.close()
    newer = (*MIGRATIONS, ("ALTER TABLE positions ADD COLUMN note TEXT DEFAULT 'none'",))
    monkeypatch.setattr("monitor.ledger.database.MIGRATIONS", newer)

    db = Database.open(path)

    assert db.rows("SELECT source, note FROM positions") == [("kept", "none")]
    assert db.rows("PRAGMA user_version") == [(len(MIGRATIONS) + 1,)]
    db.close()


def test_a_migration_that_fails_leaves_the_old_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.db"
    Database.open(path).close()
    with monkeypatch.context() as patch:
        broken = (*MIGRATIONS, ("CREATE TABLE half (x)", "CREATE TABLE half (x)"))
        patch.setattr("monitor.ledger.database.MIGRATIONS", broken)
        with pytest.raises(sqlite3.OperationalError):
            Database.open(path)

    db = Database.open(path)
    assert db.rows("SELECT count(*) FROM sqlite_master WHERE name = 'half'") == [(0,)]
    db.close()


def test_a_file_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "browser.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE history (url)")
    other.commit()
    other.close()

    with pytest.raises(StateError, match="another program"):
        Database.open(path)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(b"not a database " * 1000)

    with pytest.raises(StateError, match="damaged or no ledger"):
        Database.open(path)


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="absent"):
        Database.open(tmp_path / "absent" / "ledger.db")


def test_a_path_with_odd_characters_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "led ger?mode=ro&x#%41 ü.db"
    db = Database.open(path)
    reader = db.reader()
    reader.close()
    db.close()

    assert path.exists()


FULL_DISK = """
import resource, signal, sys
from monitor.errors import LedgerError
from monitor.ledger.database import Database
from monitor.ledger.spool import Spool

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
db = Database.open(sys.argv[1])
spool = Spool(db)
with db.transaction():
    spool.append(b"before", 1.0, 1)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
refused = 0
for _ in range(3):
    try:
        with db.transaction():
            spool.append(bytes(1_000_000), 1.0, 1)
    except LedgerError as error:
        refused += 1
        message = str(error)
assert refused == 3, refused
assert (spool.depth(), spool.bytes()) == (1, 6)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
with db.transaction():
    spool.append(b"after", 2.0, 1)
print([row.payload.decode() for row in spool.read(0, 10)], message)
db.close()
"""


def test_a_full_disk_is_an_error_of_its_own_and_passes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path / "ledger.db")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stderr == ""
    assert done.stdout.startswith("['before', 'after'] ledger ")
    assert "nothing was committed" in done.stdout


def test_a_full_file_inside_sqlite_is_an_error_of_its_own_and_passes(tmp_path: Path) -> None:
    db = Database.open(tmp_path / "ledger.db")
    ledger, spool = Ledger(db), Spool(db)
    pages = db.rows("PRAGMA page_count")[0][0]
    db.execute(f"PRAGMA max_page_count={pages + 10}")

    def fill() -> None:
        with db.transaction():
            ledger.fold([report("c", passed("1"))])
            spool.append(bytes(1_000_000), 1.0, 1)

    with pytest.raises(LedgerError, match="the disk is full"):
        fill()
    db.execute("PRAGMA max_page_count=1000000")
    fill()

    reader = db.reader()
    assert sum(ledger.totals(reader).family("turns").values()) == 1
    assert spool.depth() == 1
    reader.close()
    db.close()


def test_a_file_that_becomes_read_only_stops_writing_and_not_reading(tmp_path: Path) -> None:
    db = Database.open(tmp_path / "ledger.db")
    spool = Spool(db)
    db.execute("PRAGMA query_only=ON")

    def append() -> None:
        with db.transaction():
            spool.append(b"one", 1.0, 1)

    with pytest.raises(LedgerError, match="read-only"):
        append()
    assert spool.read(0, 10) == []
    db.execute("PRAGMA query_only=OFF")
    append()
    assert spool.depth() == 1
    db.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write read-only files")
def test_a_read_only_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    Database.open(path).close()
    path.chmod(0o400)

    with pytest.raises(LedgerError, match="read-only"):
        Database.open(path)


def test_the_file_takes_no_more_descriptors_than_it_gives_back(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        db = Database.open(tmp_path / "ledger.db")
        db.reader().close()
        db.close()
        (tmp_path / "bad.db").write_bytes(b"x" * 5000)
        with pytest.raises(StateError):
            Database.open(tmp_path / "bad.db")

    assert len(os.listdir("/proc/self/fd")) == before
