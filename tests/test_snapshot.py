"""A copy of the ledger is one committed moment, and a service goes on from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.cli import main
from monitor.errors import LedgerError
from monitor.ledger.copying import copy_ledger
from monitor.ledger.database import Database
from monitor.ledger.totals import Ledger


def counted(path: Path) -> int:
    database = Database.open(path)
    reader = database.reader()
    found = Ledger(database).totals(reader).counted("accepted")
    reader.close()
    database.close()
    return found


def test_a_copy_is_what_was_committed_while_its_owner_writes_on(tmp_path: Path) -> None:
    path, copy = tmp_path / "ledger.sqlite3", tmp_path / "copy.sqlite3"
    database = Database.open(path)
    ledger = Ledger(database)
    with database.transaction():
        ledger.count({"accepted": 3})
    with database.transaction():
        ledger.count({"accepted": 4})
        copy_ledger(path, copy)
    database.close()
    assert counted(copy) == 3
    assert counted(path) == 7


def test_a_copy_never_replaces_a_file_and_copies_no_strangers(tmp_path: Path) -> None:
    path, there = tmp_path / "ledger.sqlite3", tmp_path / "there"
    Database.open(path).close()
    there.write_text("mine")
    with pytest.raises(LedgerError, match="is there already"):
        copy_ledger(path, there)
    assert main(["snapshot", str(tmp_path / "none"), str(tmp_path / "copy")]) == 3
    assert main(["snapshot", str(path), str(tmp_path / "copy")]) == 0
    assert there.read_text() == "mine"
