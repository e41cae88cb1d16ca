"""The spool: order, numbers, damage."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from building_reports import abandon

from monitor.errors import LedgerError, StateError
from monitor.ledger import spool as spool_module
from monitor.ledger.database import Database
from monitor.ledger.spool import Spool, SpoolRow
from monitor.ledger.totals import Ledger


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database.open(tmp_path / "ledger.db", durable=False)
    yield database
    database.close()


def filled(db: Database, *payloads: bytes) -> Spool:
    spool = Spool(db)
    with db.transaction():
        for number, payload in enumerate(payloads, start=1):
            spool.append(payload, 100.0 + number, number)
    return spool


def test_batches_come_back_in_order_behind_a_number(db: Database) -> None:
    spool = filled(db, b"one", b"two", b"three")

    assert spool.read(1, 10) == [SpoolRow(2, 102.0, 2, b"two"), SpoolRow(3, 103.0, 3, b"three")]
    assert [row.seq for row in spool.read(0, 2)] == [1, 2]


def test_depth_and_bytes_follow_appends_and_releases(db: Database) -> None:
    spool = filled(db, b"one", b"two", b"three")
    assert (spool.depth(), spool.bytes(), spool.last()) == (3, 11, 3)

    with db.transaction():
        spool.release(2)

    assert (spool.depth(), spool.bytes(), spool.last()) == (1, 5, 3)
    assert Spool(db).depth() == 1


def test_a_number_is_never_given_twice(db: Database) -> None:
    spool = filled(db, b"one", b"two")
    with db.transaction():
        spool.release(2)

    again = Spool(db)

    assert again.last() == 2
    with db.transaction():
        assert again.append(b"three", 1.0, 1) == 3


def test_a_rolled_back_append_was_never_there(db: Database) -> None:
    spool = filled(db, b"one")

    abandon(db, lambda: spool.append(b"two", 1.0, 1))

    assert (spool.depth(), spool.bytes(), spool.last()) == (1, 3, 1)
    with db.transaction():
        assert spool.append(b"two", 1.0, 1) == 2


@pytest.mark.parametrize(
    "damage",
    [
        "payload = CAST('twO' AS BLOB)",
        "payload = CAST('tw' AS BLOB)",
        "payload = 'two'",
        "payload = CAST('' AS BLOB)",
        "spans = 3",
        "spans = 'two'",
        "spans = 1e30",
        "arrived_s = 102.5",
        "arrived_s = 'noon'",
        "crc = crc + 1",
        "crc = 'x'",
        "size = 4",
    ],
)
def test_a_damaged_row_is_set_aside_and_the_rest_goes_on(db: Database, damage: str) -> None:
    spool = filled(db, b"one", b"two", b"three")
    db.execute(f"UPDATE spool SET {damage} WHERE seq = 2")

    rows = spool.read(0, 10)

    assert [row.payload for row in rows] == [b"one", b"three"]
    assert [seq for seq, _ in spool.quarantined()] == [2]
    assert (spool.depth(), spool.bytes()) == (2, 8)
    assert [row.seq for row in spool.read(0, 10)] == [1, 3]
    assert Ledger(db).totals(db.reader()).family("quarantined") == {("",): 1}


def test_damaged_rows_do_not_use_up_the_limit(db: Database) -> None:
    spool = filled(db, b"one", b"two", b"three", b"four")
    db.execute("UPDATE spool SET crc = 0 WHERE seq IN (1, 3)")

    assert [row.seq for row in spool.read(0, 2)] == [2, 4]


def test_a_read_ends_with_the_batch_that_fills_it(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool_module, "READ_BYTES", 10)
    spool = filled(db, b"123456", b"123456", b"123456", b"12345678901234567890")
    db.execute("UPDATE spool SET crc = 0 WHERE seq = 1")

    assert [row.seq for row in spool.read(0, 10)] == [2, 3]
    assert [row.seq for row in spool.read(3, 10)] == [4]


def test_damage_is_set_aside_within_an_open_transaction_too(db: Database) -> None:
    spool = filled(db, b"one", b"two")
    db.execute("UPDATE spool SET crc = 0 WHERE seq = 1")

    with db.transaction():
        assert [row.seq for row in spool.read(0, 2)] == [2]

    assert [seq for seq, _ in spool.quarantined()] == [1]


def test_a_sound_row_that_nobody_can_read_is_set_aside_on_request(db: Database) -> None:
    spool = filled(db, b"one", b"two")

    with db.transaction():
        assert spool.set_aside(2) == 2
        assert spool.set_aside(99) == 0

    assert [row.seq for row in spool.read(0, 10)] == [1]
    assert spool.quarantined() == [(2, 2)]
    assert (spool.depth(), spool.bytes(), spool.last()) == (1, 3, 2)


def test_the_quarantine_keeps_the_newest(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool_module, "QUARANTINE_ROWS", 2)
    spool = filled(db, b"one", b"two", b"three")
    db.execute("UPDATE spool SET crc = 0")

    assert spool.read(0, 10) == []
    assert [seq for seq, _ in spool.quarantined()] == [2, 3]
    assert Ledger(db).totals(db.reader()).family("quarantined") == {("",): 3}


def test_no_flipped_bit_gives_a_wrong_payload(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    db = Database.open(path)
    payloads = [bytes([number]) * 3000 for number in range(1, 25)]
    filled(db, *payloads)
    db.close()
    sound = path.read_bytes()
    outcomes = {"whole": 0, "set aside": 0, "refused": 0}

    for number in range(200):
        place = number * len(sound) // 200 + number % 7
        flipped = bytearray(sound)
        flipped[place] ^= 1 << number % 8
        path.write_bytes(flipped)
        outcomes[_look(path, payloads)] += 1

    assert outcomes["set aside"] > 20
    assert outcomes["refused"] < 60


def _look(path: Path, payloads: list[bytes]) -> str:
    try:
        db = Database.open(path, durable=False)
    except (StateError, LedgerError):
        return "refused"
    try:
        found = [row.payload for row in Spool(db).read(0, 100)]
    except StateError:
        return "refused"
    except sqlite3.Error as error:
        pytest.fail(f"a defect, not a report of damage: {error}")
    finally:
        db.close()
    assert [payload for payload in found if payload not in payloads] == []
    return "whole" if found == payloads else "set aside"
