"""Reports that wait for sinks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from building_reports import abandon, passed, report

from monitor.ledger.database import Database
from monitor.ledger.outbox import Outbox
from monitor.ledger.totals import Ledger
from monitor.verdict import Report


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database.open(tmp_path / "ledger.db", durable=False)
    yield database
    database.close()


def append(db: Database, outbox: Outbox, *names: str) -> list[Report]:
    reports = [report(name, passed("1"), latency_s=1.25) for name in names]
    with db.transaction():
        outbox.append(reports)
    return reports


def deliver(db: Database, outbox: Outbox, sink: str, upto: int) -> None:
    with db.transaction():
        outbox.delivered(sink, upto)
        outbox.prune()


def rows(db: Database) -> int:
    return int(db.rows("SELECT count(*) FROM outbox")[0][0])


def test_every_sink_gets_every_report_at_its_own_pace(db: Database) -> None:
    outbox = Outbox(db, ["archive", "langfuse"])
    one, two = append(db, outbox, "one", "two")

    deliver(db, outbox, "archive", 2)
    assert outbox.pending("archive", 10) == []
    assert outbox.pending("langfuse", 10) == [(1, one), (2, two)]
    assert outbox.pending("langfuse", 1) == [(1, one)]
    assert (outbox.depth("archive"), outbox.depth("langfuse"), rows(db)) == (0, 2, 2)

    deliver(db, outbox, "langfuse", 1)
    assert outbox.pending("langfuse", 10) == [(2, two)]
    assert rows(db) == 1
    assert Ledger(db).totals(db.reader()).sinks == {"archive": 0, "langfuse": 1}


def test_without_sinks_nothing_is_kept(db: Database) -> None:
    append(db, Outbox(db, []), "one")

    assert rows(db) == 0


def test_what_was_not_delivered_waits_through_a_restart(db: Database) -> None:
    outbox = Outbox(db, ["archive"])
    _, two = append(db, outbox, "one", "two")
    deliver(db, outbox, "archive", 1)

    again = Outbox(db, ["archive"])

    assert again.pending("archive", 10) == [(2, two)]
    assert append(db, again, "three") == [found for _, found in again.pending("archive", 10)][1:]


def test_a_place_never_goes_back(db: Database) -> None:
    outbox = Outbox(db, ["archive"])
    append(db, outbox, "one", "two")
    deliver(db, outbox, "archive", 2)
    deliver(db, outbox, "archive", 1)

    assert outbox.pending("archive", 10) == []


def test_a_new_sink_starts_with_what_comes_and_a_gone_one_holds_nothing_up(db: Database) -> None:
    append(db, Outbox(db, ["gone"]), "one")

    outbox = Outbox(db, ["new"])
    (two,) = append(db, outbox, "two")
    with db.transaction():
        outbox.prune()

    assert [found for _, found in outbox.pending("new", 10)] == [two]
    assert rows(db) == 1


def test_a_rollback_takes_reports_and_places_back(db: Database) -> None:
    outbox = Outbox(db, ["archive"])
    (one,) = append(db, outbox, "one")

    abandon(
        db,
        lambda: outbox.append([report("two", passed("1"))]),
        lambda: outbox.delivered("archive", 1),
        outbox.prune,
    )

    assert outbox.pending("archive", 10) == [(1, one)]
    (three,) = append(db, outbox, "three")
    assert outbox.pending("archive", 10) == [(1, one), (2, three)]


def test_a_full_outbox_drops_the_oldest_and_counts_them_by_sink(db: Database) -> None:
    outbox = Outbox(db, ["dead", "quick"], max_rows=3)
    append(db, outbox, "one", "two")
    deliver(db, outbox, "quick", 1)
    append(db, outbox, "three", "four", "five")

    assert [seq for seq, _ in outbox.pending("dead", 10)] == [3, 4, 5]
    assert [seq for seq, _ in outbox.pending("quick", 10)] == [3, 4, 5]
    assert rows(db) == 3
    assert Ledger(db).totals(db.reader()).family("sink_dropped") == {("dead",): 2, ("quick",): 1}


def test_a_row_that_is_no_report_is_passed_over(db: Database) -> None:
    outbox = Outbox(db, ["archive"])
    append(db, outbox, "one")
    _, three = append(db, outbox, "two", "three")
    db.execute("UPDATE outbox SET report = x'c1' WHERE seq = 1")
    db.execute("UPDATE outbox SET report = 'text' WHERE seq = 2")

    assert outbox.pending("archive", 1) == [(3, three)]


def test_text_that_is_no_unicode_does_not_hold_up_the_others(db: Database) -> None:
    outbox = Outbox(db, ["archive"])
    with db.transaction():
        outbox.append([report("bad \ud800", passed("1", agent="\udfff")), report("good")])

    (_, bad), (_, good) = outbox.pending("archive", 10)
    assert (bad.conversation_id, bad.turns[0].agent) == ("bad ?", "?")
    assert good == report("good")
