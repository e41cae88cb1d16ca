"""What the ledger forgets, and that forgetting never counts anything twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from building_reports import passed, report, root

from monitor.ledger.database import Database
from monitor.ledger.labels import MAX_LENGTH, label_value
from monitor.ledger.snapshot import Totals
from monitor.ledger.totals import Ledger, LedgerLimits
from monitor.verdict import Report

LIMITS = LedgerLimits(
    releases=2,
    release_idle_s=100.0,
    release_ttl_s=1000.0,
    retain_s=600.0,
    tombstone_s=6000.0,
    prune_interval_s=0.0,
)


@pytest.fixture
def db() -> Iterator[Database]:
    database = Database.open(":memory:")
    yield database
    database.close()


def fold(db: Database, ledger: Ledger, reports: Sequence[Report], now: float = 0.0) -> Totals:
    with db.transaction():
        ledger.fold(reports)
        ledger.prune(now)
    return ledger.totals(db.reader())


def prune(db: Database, ledger: Ledger, now: float) -> None:
    with db.transaction():
        ledger.prune(now)


def turns(found: Totals) -> int:
    return sum(found.family("turns").values())


def test_a_forgotten_conversation_is_still_not_counted_again(db: Database) -> None:
    ledger = Ledger(db, LIMITS)
    fold(db, ledger, [report("c", passed("1"), started_s=10.0)], now=1000.0)
    prune(db, ledger, now=1601.0)

    again = fold(
        db,
        ledger,
        [
            report("c", passed("1"), started_s=10.0),
            report("c", root("1"), passed("2"), started_s=10.0, revision=2),
        ],
        now=1602.0,
    )

    assert turns(again) == 1
    assert again.family("corrections") == {}
    assert again.counted("reports:expired") == 1


def test_a_conversation_within_retention_can_be_corrected(db: Database) -> None:
    ledger = Ledger(db, LIMITS)
    fold(db, ledger, [report("c", passed("1"))], now=1000.0)
    prune(db, ledger, now=1599.0)

    found = fold(db, ledger, [report("c", root("1"), revision=2)], now=1599.0)

    assert found.family("corrections") == {("pass", "root_fail"): 1}


def test_a_conversation_that_is_still_open_is_kept(db: Database) -> None:
    ledger = Ledger(db, LIMITS)
    fold(db, ledger, [report("c", passed("1"), closed=False)], now=1000.0)
    prune(db, ledger, now=5000.0)

    found = fold(db, ledger, [report("c", root("1"), passed("2"), revision=2)], now=5000.0)

    assert turns(found) == 2
    assert found.family("corrections") == {("pass", "root_fail"): 1}
    prune(db, ledger, now=12_000.0)
    assert db.rows("SELECT count(*) FROM conversations") == [(0,)]


def test_a_revision_renews_retention(db: Database) -> None:
    ledger = Ledger(db, LIMITS)
    fold(db, ledger, [report("c", passed("1"))], now=1000.0)
    fold(db, ledger, [report("c", passed("1"), passed("2"), revision=2)], now=1500.0)
    prune(db, ledger, now=2000.0)

    found = fold(db, ledger, [report("c", passed("1"), root("2"), revision=3)], now=2000.0)

    assert found.family("corrections") == {("pass", "root_fail"): 1}


def test_tombstones_end_and_leave_an_empty_table(db: Database) -> None:
    ledger = Ledger(db, LIMITS)
    fold(db, ledger, [report(f"c{n}", passed("1")) for n in range(50)], now=1000.0)
    prune(db, ledger, now=2000.0)
    assert db.rows("SELECT count(*) FROM tombstones") == [(50,)]
    assert db.rows("SELECT count(*) FROM conversations") == [(0,)]

    prune(db, ledger, now=7001.0)

    assert db.rows("SELECT count(*) FROM tombstones") == [(0,)]


@pytest.mark.parametrize("pruned_at", [1000.0, 2000.0], ids=["remembered", "tombstone"])
def test_a_session_that_starts_over_is_counted_anew(db: Database, pruned_at: float) -> None:
    ledger = Ledger(db, LIMITS)
    old = [
        report("c", passed("1"), started_s=10.0),
        report("c", passed("1"), passed("2"), started_s=10.0, revision=2),
    ]
    fold(db, ledger, old, now=1000.0)
    prune(db, ledger, now=pruned_at)

    new = [
        report("c", passed("3"), started_s=900.0),
        report("c", passed("3"), root("4"), started_s=900.0, revision=2),
    ]
    found = fold(db, ledger, new, now=pruned_at)

    assert turns(found) == 4
    assert sum(found.family("conversations").values()) == 2
    assert found.family("corrections") == {}
    assert found.strata[0].sums.n == 2
    assert fold(db, ledger, [*old, *new], now=pruned_at).family("turns") == found.family("turns")


def test_pruning_is_done_at_most_once_per_interval(db: Database) -> None:
    ledger = Ledger(db, LedgerLimits(retain_s=10.0, prune_interval_s=60.0))
    fold(db, ledger, [report("c", passed("1"))], now=1000.0)

    prune(db, ledger, now=1059.0)
    assert db.rows("SELECT count(*) FROM conversations") == [(1,)]
    prune(db, ledger, now=1060.0)
    assert db.rows("SELECT count(*) FROM conversations") == [(0,)]


def test_releases_beyond_the_limit_are_other_and_counted(db: Database) -> None:
    ledger = Ledger(db, LIMITS)
    reports = [report(f"c{n}", passed("1"), release=f"r{n}") for n in range(4)]

    found = fold(db, ledger, reports)

    assert {labels[0]: n for labels, n in found.family("turns").items()} == {
        "r0": 1,
        "r1": 1,
        "other": 2,
    }
    assert found.family("overflow") == {("release",): 2}
    assert [release.name for release in found.releases] == ["r0", "r1", "other"]


def test_a_newcomer_takes_the_place_of_the_release_silent_longest(db: Database) -> None:
    ledger = Ledger(db, LIMITS)
    fold(db, ledger, [report("a", passed("1"), release="r0")], now=1000.0)
    fold(db, ledger, [report("b", passed("1"), release="r1")], now=1050.0)
    too_early = fold(db, ledger, [report("c", passed("1"), release="r2")], now=1099.0)
    prune(db, ledger, now=1150.0)

    in_time = fold(db, ledger, [report("d", passed("1"), release="r2")], now=1151.0)

    assert [release.name for release in too_early.releases] == ["r0", "r1", "other"]
    assert [release.name for release in in_time.releases] == ["r1", "r2", "other"]


def test_a_release_that_comes_back_goes_on_with_its_counts(db: Database) -> None:
    ledger = Ledger(db, LIMITS)
    fold(db, ledger, [report("a", passed("1"), release="r0")], now=1000.0)
    prune(db, ledger, now=2001.0)
    assert ledger.totals(db.reader()).releases == ()

    found = fold(db, ledger, [report("b", passed("1"), release="r0")], now=2002.0)

    assert found.family("turns") == {("r0", "1", "action", "pass"): 2}
    assert [release.name for release in found.releases] == ["r0"]


def test_only_so_many_silent_releases_are_kept(db: Database) -> None:
    limits = LedgerLimits(releases=8, retired_releases=2, release_ttl_s=10.0, prune_interval_s=0.0)
    ledger = Ledger(db, limits)
    for number in range(4):
        fold(
            db, ledger, [report(f"c{number}", root("1"), release=f"r{number}")], now=100.0 * number
        )
    prune(db, ledger, now=1000.0)

    found = fold(db, ledger, [report("c9", passed("1"), release="r0")], now=1001.0)

    assert {labels[0]: value for labels, value in found.family("turns").items()} == {
        "r0": 1,
        "r2": 1,
        "r3": 1,
    }
    assert {stratum.release for stratum in found.strata} == {"r0", "r2", "r3"}
    assert db.rows("SELECT slot, name FROM releases ORDER BY 1") == [
        (3, "r2"),
        (4, "r3"),
        (5, "r0"),
    ]
    corrected = fold(db, ledger, [report("c1", passed("1"), revision=2)], now=1002.0)
    assert corrected.family("corrections") == {("root_fail", "pass"): 1}


def test_a_declared_release_stands_before_its_first_report(db: Database) -> None:
    ledger = Ledger(db, LIMITS)
    with db.transaction():
        ledger.declare("shop-1@model-a", "model-a")

    found = ledger.totals(db.reader())

    assert [(release.name, release.model) for release in found.releases] == [
        ("shop-1@model-a", "model-a")
    ]
    assert found.family("turns") == {}


def test_a_release_with_traffic_takes_the_place_of_one_that_was_only_declared(
    db: Database,
) -> None:
    ledger = Ledger(db, LedgerLimits(releases=2))
    with db.transaction():
        ledger.declare("planned", None)
        ledger.declare("planned too", None)
        ledger.declare("planned as well", None)

    found = fold(db, ledger, [report("c", root("1"), release="live", started_s=5.0)])

    assert [release.name for release in found.releases] == ["planned too", "live"]
    assert found.family("overflow") == {("release",): 1}


def conversations(release: str, start: int, count: int) -> list[Report]:
    return [
        report(f"c{number}", passed("1"), release=release, started_s=1.0)
        for number in range(start, start + count)
    ]


def names(found: Totals) -> list[str]:
    return [release.name for release in found.releases if release.name != "other"]


def test_a_declared_release_is_told_that_there_is_no_room(db: Database) -> None:
    ledger = Ledger(db, LIMITS)
    fold(db, ledger, [*conversations("r1", 0, 1), *conversations("r2", 1, 1)], now=10.0)

    with db.transaction():
        told = [ledger.declare("r2"), ledger.declare("r3")]

    assert told == [True, False]
    assert ledger.totals(db.reader()).family("overflow") == {("release",): 1}


def test_the_newest_release_takes_the_place_of_the_one_with_the_least_recent_traffic(
    db: Database,
) -> None:
    ledger = Ledger(db, LIMITS)
    fold(db, ledger, [*conversations("r1", 0, 9), *conversations("r2", 9, 8)], now=10.0)

    before = fold(db, ledger, conversations("r3", 20, 4), now=20.0)
    after = fold(db, ledger, conversations("r3", 24, 3), now=30.0)

    assert (names(before), names(after)) == (["r1", "r2"], ["r1", "r3"])
    # Its fifth conversation found a place; the four before count as `other`, once each.
    assert after.family("overflow") == {("release",): 4}
    assert {labels[0]: n for labels, n in after.family("turns").items()} == {
        "r1": 9,
        "r2": 8,
        "r3": 3,
        "other": 4,
    }


def test_traffic_of_long_ago_holds_no_place(db: Database) -> None:
    ledger = Ledger(db, LIMITS)
    fold(db, ledger, conversations("r1", 0, 50), now=0.0)
    for minute in range(1, 30):
        fold(db, ledger, conversations("r2", 50 + minute, 1), now=float(minute))

    after = fold(db, ledger, conversations("r3", 100, 5), now=31.0)

    # 50 conversations half an hour ago weigh 2; one a minute weighs 9.
    assert names(after) == ["r2", "r3"]


def test_stray_names_take_no_place(db: Database) -> None:
    ledger = Ledger(db, LIMITS)
    fold(db, ledger, [*conversations("r1", 0, 9), *conversations("r2", 9, 1)], now=10.0)

    strays = [report(f"s{n}", release=f"build-{n % 300}", started_s=1.0) for n in range(1000)]
    found = fold(db, ledger, strays, now=20.0)

    assert names(found) == ["r1", "r2"]


def test_a_release_that_lost_its_place_needs_twice_the_traffic_to_win_it_back(
    db: Database,
) -> None:
    ledger = Ledger(db, LIMITS)
    fold(db, ledger, [*conversations("r1", 0, 30), *conversations("r2", 30, 8)], now=0.0)
    fold(db, ledger, conversations("r3", 40, 15), now=0.0)

    # r3 has 15, less a tenth at each of two ticks: 5 + 2 x 12.15 is 29.3.
    still = fold(db, ledger, conversations("r2", 60, 29), now=0.0)
    back = fold(db, ledger, conversations("r2", 90, 9), now=0.0)

    assert (set(names(still)), set(names(back))) == ({"r1", "r3"}, {"r1", "r2"})


def test_a_release_is_first_seen_at_the_earliest_start_it_told(db: Database) -> None:
    found = fold(
        db,
        Ledger(db, LIMITS),
        [report("a", started_s=50.0), report("b", started_s=40.0), report("c", started_s=None)],
    )

    assert found.releases[0].first_seen_s == 40.0


@pytest.mark.parametrize(
    ("raw", "label"),
    [
        ("shop-1@model-a", "shop-1@model-a"),
        ('quote " and \\ stay', 'quote " and \\ stay'),
        ("two\nlines\r\x00", "two_lines__"),
        ("right\u202eleft\u2066", "right_left_"),
        ("lone \ud800 surrogate", "lone _ surrogate"),
        ("größe 模型", "größe 模型"),
        ("", "unknown"),
        ("   ", "unknown"),
    ],
)
def test_outside_text_is_made_fit_for_a_label(raw: str, label: str) -> None:
    assert label_value(raw) == label


def test_long_names_are_cut_and_stay_distinct() -> None:
    one, other = label_value("x" * 10_000 + "1"), label_value("x" * 10_000 + "2")

    assert len(one) == len(other) == MAX_LENGTH
    assert one != other


def test_thousands_of_release_names_keep_the_tables_small(db: Database) -> None:
    ledger = Ledger(db, LIMITS)
    with db.transaction():
        for number in range(2000):
            ledger.fold([report("c", passed(f"{number}"), revision=number, release=f"r{number}")])

    assert db.rows("SELECT count(*) FROM releases") == [(2,)]
    assert ledger.totals(db.reader()).family("overflow") == {("release",): 1998}
