"""Reports folded into totals, with every number worked out by hand."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from building_reports import abandon, inherited, passed, report, root, unscored

from monitor.exposition.balance import span_balance, turn_balance
from monitor.exposition.live import Live
from monitor.ledger.database import Database
from monitor.ledger.snapshot import Totals
from monitor.ledger.statistics import Sums
from monitor.ledger.totals import Ledger, LedgerLimits
from monitor.verdict import Report

A = "shop-1@model-a"
B = "shop-2@model-b"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database.open(tmp_path / "ledger.db", durable=False)
    yield database
    database.close()


def fold(db: Database, ledger: Ledger, reports: Sequence[Report]) -> Totals:
    with db.transaction():
        ledger.fold(reports)
    return totals(db, ledger)


def totals(db: Database, ledger: Ledger) -> Totals:
    reader = db.reader()
    try:
        return ledger.totals(reader)
    finally:
        reader.close()


def sums(found: Totals) -> dict[tuple[str, str], Sums]:
    return {(s.release, s.chain): s.sums for s in found.strata}


FOUR_TURNS = report(
    "c",
    passed("1", scores={"structural": 1.0}),
    root("2", detail="omitted", scores={"structural": 1.0, "completeness": 0.5}),
    inherited("3", scores={"attribution": 0.0}),
    unscored("4", turn_type="response"),
    latency_s=2.5,
    started_s=100.0,
)


def test_each_turn_is_counted_by_its_verdict_reason_and_basis(db: Database) -> None:
    found = fold(db, Ledger(db), [FOUR_TURNS])

    assert found.counters == {
        "turns": {
            (A, "1", "action", "pass"): 1,
            (A, "1", "action", "root_fail"): 1,
            (A, "1", "action", "cascade_fail"): 1,
            (A, "1", "response", "unscored"): 1,
        },
        "at_risk": {(A, "1"): 2},
        "failures": {
            (A, "1", "missing_parameters", "root"): 1,
            (A, "1", "prior_action_failed", "inherited"): 1,
        },
        "failure_details": {(A, "missing_parameters", "omitted"): 1},
        "scored": {(A, "contract"): 3},
        "unscored": {(A, "no_reference"): 1},
        "conversations": {(A, "1", "fail"): 1},
        "latency": {(A, "1", "fail", "2"): 1},  # 2 s < 2.5 s <= 5 s, the third bucket
        "latency_sum": {(A, "1", "fail"): 2_500_000},
        "sub_metric_turns": {(A, "structural"): 2, (A, "completeness"): 1, (A, "attribution"): 1},
        "sub_metric_score": {
            (A, "structural"): 2_000_000,
            (A, "completeness"): 500_000,
            (A, "attribution"): 0,
        },
    }


def test_statistics_hold_the_sums_by_release_and_chain(db: Database) -> None:
    found = fold(
        db,
        Ledger(db),
        [
            report("one", passed("1"), root("2"), inherited("3")),  # r 1, a 2, c 1
            report("two", passed("1"), passed("2"), passed("3")),  # r 0, a 3
            report("three", root("1"), root("2"), chain="2"),  # r 2, a 2
            report("four", unscored("1")),  # no evidence
            report("five", passed("1"), release=B),
        ],
    )

    assert sums(found) == {
        (A, "1"): Sums(n=2, r=1, a=5, rr=1, ra=2, aa=13, c=1, cc=1, rc=1, ac=2),
        (A, "2"): Sums(n=1, r=2, a=2, rr=4, ra=4, aa=4),
        (B, "1"): Sums(n=1, r=0, a=1, rr=0, ra=0, aa=1),
    }


def test_a_report_that_comes_twice_changes_nothing(db: Database) -> None:
    ledger = Ledger(db)
    once = fold(db, ledger, [FOUR_TURNS])

    assert fold(db, ledger, [FOUR_TURNS, FOUR_TURNS]) == once


def test_a_later_revision_corrects_and_never_takes_back_a_count(db: Database) -> None:
    ledger = Ledger(db)
    before = fold(db, ledger, [report("c", root("1"), passed("2"))])

    after = fold(db, ledger, [report("c", passed("1"), passed("2"), revision=2)])

    assert after.family("corrections") == {("root_fail", "pass"): 1}
    assert {**after.counters, "corrections": {}} == {**before.counters, "corrections": {}}
    assert sums(after) == {(A, "1"): Sums(n=1, r=0, a=2, rr=0, ra=0, aa=4)}


def test_each_correction_starts_from_the_verdict_before_it(db: Database) -> None:
    found = fold(
        db,
        Ledger(db),
        [
            report("c", unscored("1")),
            report("c", root("1"), revision=2),
            report("c", inherited("1"), revision=3),
        ],
    )

    assert found.family("corrections") == {
        ("unscored", "root_fail"): 1,
        ("root_fail", "cascade_fail"): 1,
    }


def test_a_turn_that_a_later_revision_lacks_is_withdrawn_and_counted_once(db: Database) -> None:
    found = fold(
        db,
        Ledger(db),
        [
            report("c", root("omitted-1"), passed("2")),
            report("c", passed("2"), passed("3"), revision=2),
            report("c", passed("2"), passed("3"), revision=3),
            report("c", root("omitted-1"), passed("2"), passed("3"), revision=4),
        ],
    )

    assert found.family("corrections") == {
        ("root_fail", "withdrawn"): 1,
        ("withdrawn", "root_fail"): 1,
    }
    assert sum(found.family("turns").values()) == 3
    assert sums(found) == {(A, "1"): Sums(n=1, r=1, a=3, rr=1, ra=3, aa=9)}


def test_an_older_revision_after_a_newer_one_changes_nothing(db: Database) -> None:
    ledger = Ledger(db)
    newest = fold(db, ledger, [report("c", passed("1"), passed("2"), revision=5)])

    assert fold(db, ledger, [report("c", root("1"), revision=4)]) == newest


def test_an_open_report_counts_turns_but_no_conversation(db: Database) -> None:
    ledger = Ledger(db)
    while_open = fold(db, ledger, [report("c", root("1"), closed=False)])
    when_closed = fold(db, ledger, [report("c", root("1"), passed("2"), revision=2)])

    assert while_open.family("conversations") == {}
    assert while_open.strata == ()
    assert when_closed.family("conversations") == {(A, "1", "fail"): 1}
    assert sums(when_closed) == {(A, "1"): Sums(n=1, r=1, a=2, rr=1, ra=2, aa=4)}


def test_a_conversation_is_counted_by_its_first_outcome_only(db: Database) -> None:
    found = fold(
        db,
        Ledger(db),
        [report("c", unscored("1"), latency_s=1.0), report("c", root("1"), revision=2)],
    )

    assert found.family("conversations") == {(A, "1", "unscored"): 1}


def test_statistics_follow_a_conversation_to_another_release_and_chain(db: Database) -> None:
    found = fold(
        db,
        Ledger(db),
        [report("c", root("1")), report("c", root("1"), revision=2, release=B, chain="3+")],
    )

    assert sums(found) == {(A, "1"): Sums(), (B, "3+"): Sums(1, 1, 1, 1, 1, 1)}


def test_evaluator_versions_are_never_added_up(db: Database) -> None:
    found = fold(
        db,
        Ledger(db),
        [report("c", root("1")), report("d", passed("1"), evaluator="rules-2")],
    )

    assert [(s.evaluator, s.sums.n, s.sums.r) for s in found.strata] == [
        ("rules-1", 1, 1),
        ("rules-2", 1, 0),
    ]


def test_a_turn_listed_twice_in_one_report_is_one_turn(db: Database) -> None:
    found = fold(db, Ledger(db), [report("c", passed("1"), passed("1"))])

    assert found.family("turns") == {(A, "1", "action", "pass"): 1}


def test_values_beyond_their_range_neither_stop_nor_bend_the_sums(db: Database) -> None:
    nan, inf = float("nan"), float("inf")
    found = fold(
        db,
        Ledger(db),
        [
            report(
                "c",
                passed("1", scores={"structural": nan}),
                passed("2", scores={"structural": 1.0000001}),
                passed("3", scores={"structural": -inf}),
                latency_s=-1.0,
            ),
            report("d", passed("1"), latency_s=nan),
            report("e", passed("1"), latency_s=1e300),
        ],
    )

    assert found.family("sub_metric_turns") == {(A, "structural"): 1}
    assert found.family("sub_metric_score") == {(A, "structural"): 1_000_000}
    assert found.family("latency") == {(A, "1", "pass", "9"): 1}


def test_a_label_outside_its_vocabulary_becomes_other_and_is_counted(db: Database) -> None:
    found = fold(
        db,
        Ledger(db),
        [
            report(
                "c",
                root("1", "reason of a plugin"),
                unscored("2", why="mood"),
                unscored("3", why="mood"),
            )
        ],
    )

    assert found.family("failures") == {(A, "1", "other", "root"): 1}
    assert found.family("unscored") == {(A, "other"): 2}
    assert found.family("overflow") == {("reason",): 1, ("why",): 2}


def test_positions_and_counts_commit_with_the_totals(db: Database) -> None:
    ledger = Ledger(db)
    with db.transaction():
        ledger.fold([FOUR_TURNS])
        ledger.count({"accepted": 4, "dropped:too_deep": 1})
        ledger.count({"accepted": 3})
        ledger.set_position("spool", 17)

    assert ledger.position("spool") == 17
    assert Ledger(db).position("spool") == 17
    assert ledger.position("elsewhere") == 0
    assert totals(db, ledger).counted("accepted") == 7
    assert totals(db, ledger).counted_under("dropped") == {"too_deep": 1}


def test_a_rollback_leaves_nothing_behind(db: Database) -> None:
    ledger = Ledger(db)
    fold(db, ledger, [report("c", passed("1"))])
    before = totals(db, ledger)

    abandon(
        db,
        lambda: ledger.fold([FOUR_TURNS, report("d", root("1"), release=B, chain="2")]),
        lambda: ledger.count({"accepted": 1}),
        lambda: ledger.set_position("spool", 5),
    )

    assert totals(db, ledger) == before
    assert ledger.position("spool") == 0
    after = fold(db, ledger, [FOUR_TURNS, report("d", root("1"), release=B, chain="2")])
    assert after.family("turns")[(B, "1", "action", "root_fail")] == 1
    assert sums(after)[(B, "2")] == Sums(1, 1, 1, 1, 1, 1)


def test_totals_continue_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    first = Database.open(path)
    fold(first, Ledger(first), [report("c", root("1"))])
    first.close()

    second = Database.open(path)
    found = fold(second, Ledger(second), [report("c", passed("1"), passed("2"), revision=2)])
    second.close()

    assert found.family("turns") == {
        (A, "1", "action", "root_fail"): 1,
        (A, "1", "action", "pass"): 1,
    }
    assert found.family("corrections") == {("root_fail", "pass"): 1}


def test_every_scrape_during_writing_balances(db: Database) -> None:
    ledger, reader = Ledger(db), db.reader()
    done = threading.Event()
    scraped: list[Totals] = []

    def scrape() -> None:
        while not done.is_set():
            scraped.append(ledger.totals(reader))

    scraper = threading.Thread(target=scrape)
    scraper.start()
    for number in range(200):
        with db.transaction():
            ledger.fold([report(f"c{number}", passed("1"), root("2"), unscored("3"))])
            ledger.count({"accepted": 5, "attached": 5 - number % 2})
            ledger.set_gauges({"open_spans": (number + 1) // 2})
    done.set()
    scraper.join(timeout=60)
    scraped.append(ledger.totals(reader))
    reader.close()

    assert sum(scraped[-1].family("turns").values()) == 600
    assert [found for found in scraped if not turn_balance(found, Live()).holds] == []
    assert [found for found in scraped if not span_balance(found, Live()).holds] == []


def test_names_of_outcomes_are_bounded(db: Database) -> None:
    ledger = Ledger(db, LedgerLimits(count_names=2))
    with db.transaction():
        ledger.count({"accepted": 1, "dropped:a": 1, "dropped:b": 2, "strange": 3, "odd": 1})

    assert totals(db, ledger).family("counts") == {
        ("accepted",): 1,
        ("dropped:a",): 1,
        ("dropped:other",): 2,
        ("other",): 4,
    }
    assert totals(db, ledger).family("overflow") == {("outcome",): 3}


def test_writing_outside_a_transaction_is_a_defect(db: Database) -> None:
    with pytest.raises(RuntimeError, match="inside a transaction"):
        Ledger(db).fold([FOUR_TURNS])
