"""From reports to evidence: the ledger, the detectors and their state in one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from building_reports import abandon, inherited, passed, report, root, unscored
from released import NEW, OLD

from monitor.exposition.collector import Collector
from monitor.exposition.live import Live
from monitor.ledger.database import Database
from monitor.ledger.outbox import Outbox
from monitor.ledger.spool import Spool
from monitor.ledger.state import StateStore
from monitor.ledger.totals import Ledger, LedgerLimits
from monitor.releases.pairs import Rules
from monitor.releases.watch import Watch
from monitor.roles.engine import Engine, Stores
from monitor.roles.watching import Watching, closed_of, revised_of
from monitor.verdict import Effects, Report

RULES = Rules(swap_conversations=5, baseline_conversations=20)


def watching() -> Watching:
    return Watching(lambda kept: Watch(RULES, kept))


@pytest.fixture
def db() -> Iterator[Database]:
    opened = Database.open(":memory:")
    yield opened
    opened.close()


def folded(db: Database, ledger: Ledger, *reports: Report) -> list[Any]:
    with db.transaction():
        return ledger.fold(reports)


def test_what_the_detectors_take_is_the_first_verdicts_of_a_closed_conversation(
    db: Database,
) -> None:
    turns = (passed("1"), root("2", "tool_mismatch"), inherited("3"), unscored("4"), root("5"))
    found = folded(
        db,
        Ledger(db),
        report("open", passed("1"), closed=False),
        report("c", *turns, chain="2", intent=3, latency_s=6.0, started_s=3 * 86_400.0 + 5),
    )

    assert [each.first for each in found] == [True]
    taken = closed_of(found[0], "intents-1")
    assert (taken.release, taken.chain, taken.intent, taken.day) == (OLD, 2, 3, 3)
    assert (taken.roots, taken.at_risk, taken.inherited) == (2, 3, 1)
    assert (taken.early_roots, taken.early_at_risk) == (2, 3)
    assert taken.early_reasons == (1, 0, 1, 0, 0, 0, 0)
    assert taken.latency_bucket == 3  # 5 s < 6 s <= 10 s
    assert taken.evaluator == "rules-1 intents-1"


def test_bets_count_the_first_twelve_turns_at_risk(db: Database) -> None:
    turns = [passed(str(n)) for n in range(11)] + [root("11"), root("12"), passed("13")]
    taken = closed_of(folded(db, Ledger(db), report("c", *turns))[0])

    assert (taken.roots, taken.at_risk) == (2, 14)
    assert (taken.early_roots, taken.early_at_risk) == (1, 12)


@pytest.mark.parametrize("latency_s", [None, float("nan"), float("inf"), -1.0])
def test_a_latency_that_is_none_stays_unknown(db: Database, latency_s: float | None) -> None:
    taken = closed_of(folded(db, Ledger(db), report("c", passed("1"), latency_s=latency_s))[0])

    assert taken.latency_bucket is None


@pytest.mark.parametrize("started_s", [None, float("nan"), float("inf")])
def test_a_start_that_is_none_is_of_no_day(db: Database, started_s: float | None) -> None:
    taken = closed_of(folded(db, Ledger(db), report("c", passed("1"), started_s=started_s))[0])

    assert taken.day is None


def test_a_revision_tells_where_the_conversation_stood_and_where_it_stands(db: Database) -> None:
    ledger = Ledger(db)
    folded(db, ledger, report("c", passed("1"), passed("2"), intent=1))
    late = report("c", root("1"), inherited("2"), revision=2, chain="2", intent=1, release=NEW)
    found = folded(db, ledger, late)

    assert [each.first for each in found] == [False]
    moved = revised_of(found[0])
    assert (moved.release, moved.was) == (OLD, (1 * 4 + 1, 0, 2, 0))
    assert (moved.now_release, moved.now) == (NEW, (1 * 4 + 2, 1, 1, 1))
    assert moved.evaluator == "rules-1 "


def test_a_revision_by_another_evaluator_is_told_from_others(db: Database) -> None:
    ledger = Ledger(db)
    folded(db, ledger, report("c", passed("1"), evaluator="rules-0"))

    moved = revised_of(folded(db, ledger, report("c", root("1"), revision=2))[0])

    assert moved.evaluator is None


def test_a_report_that_comes_again_is_not_weighed_again(db: Database) -> None:
    ledger = Ledger(db)
    again = report("c", passed("1"))

    assert folded(db, ledger, again) != []
    assert folded(db, ledger, again) == []


def test_releases_without_series_of_their_own_are_not_weighed(db: Database) -> None:
    ledger, detectors = Ledger(db, LedgerLimits(releases=1)), watching()
    found = folded(db, ledger, report("a", passed("1")), report("b", passed("1"), release=NEW))
    detectors.fold(found)
    detectors.publish()

    assert [q.release for q in detectors.shown.qualities] == [OLD]


def test_state_that_was_not_committed_is_forgotten(db: Database) -> None:
    ledger = Ledger(db)
    with db.transaction():
        ledger.keep_detectors({"a": b"1", "b": b"2"})
    abandon(db, lambda: ledger.keep_detectors({"a": b"3", "b": None}))
    with db.transaction():
        ledger.keep_detectors({"b": None, "c": b"4"})

    assert ledger.detectors() == {"a": b"1", "c": b"4"}


class Told:
    """A pipeline that makes the reports it was told to make."""

    open_spans = open_turns = open_conversations = 0

    def __init__(self) -> None:
        self.reports: list[Report] = []

    def tick(self, now: float) -> Effects:
        made, self.reports = tuple(self.reports), []
        return Effects(made)

    def checkpoint(self) -> None:
        """Nothing to write."""


class Host:
    """An engine over a file, fed with reports."""

    def __init__(self, path: Path) -> None:
        self.db = Database.open(path)
        self.told = Told()
        self.watching = watching()
        self.ledger = Ledger(self.db)
        stores = Stores(
            self.db, Spool(self.db), StateStore(self.db), self.ledger, Outbox(self.db, [])
        )
        build: Any = lambda _: self.told  # noqa: E731
        self.engine = Engine(stores, build, (), self.watching)

    def run(self, *reports: Report) -> None:
        self.told.reports += reports
        self.engine.work(0.0, 1)
        self.engine.commit(0.0)

    def page(self) -> str:
        live = Live(shown=self.watching.shown)
        reader = self.db.reader()
        found = Collector(lambda: self.ledger.totals(reader), lambda: live).render("")[0].decode()
        reader.close()
        return found


def swap() -> list[Report]:
    """200 conversations of the old release, and 60 of the new one, each second of which fails."""
    old = [
        report(
            f"old-{n}",
            *(passed(str(t)) for t in range(4)),
            root("r") if n % 20 == 0 else passed("r"),
        )
        for n in range(200)
    ]
    new = [
        report(f"new-{n}", passed("1"), root("r") if n % 2 else passed("r"), release=NEW)
        for n in range(60)
    ]
    return [*old, *new]


def test_a_swap_that_breaks_arguments_is_on_the_page_of_metrics(tmp_path: Path) -> None:
    host = Host(tmp_path / "ledger.sqlite3")
    host.run(*swap())

    pair = f'baseline_release="{OLD}",release="{NEW}"'
    lines = {
        line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
        for line in host.page().splitlines()
        if line[0] != "#"
    }
    evidence = {
        name.partition('signal="')[2].rstrip('"}'): value
        for name, value in lines.items()
        if name.startswith("agent_monitor_regression_log10_evidence") and pair in _sorted(name)
    }
    assert evidence["total"] > 2.3
    assert evidence["missing_parameters"] > evidence["tool_mismatch"]
    assert lines['agent_monitor_regression_log10_threshold{signal="total"}'] == pytest.approx(
        2.30103
    )
    assert any("regression_comparison_info" in name and 'mode="swap"' in name for name in lines)
    assert any("regression_selected_reason" in name for name in lines)
    host.db.close()


def _sorted(name: str) -> str:
    return ",".join(sorted(name.partition("{")[2].rstrip("}").split(",")))


def test_a_restart_in_mid_swap_gives_equal_metrics(tmp_path: Path) -> None:
    reports = swap()
    whole, first = Host(tmp_path / "whole.sqlite3"), Host(tmp_path / "cut.sqlite3")
    whole.run(*reports)
    first.run(*reports[:231])
    first.db.close()
    second = Host(tmp_path / "cut.sqlite3")
    second.run(*reports[231:])

    assert second.watching.shown == whole.watching.shown
    assert second.ledger.detectors() == whole.ledger.detectors()


def test_evidence_does_not_depend_on_the_batches(tmp_path: Path) -> None:
    reports = swap()
    whole, pieces = Host(tmp_path / "whole.sqlite3"), Host(tmp_path / "pieces.sqlite3")
    whole.run(*reports)
    for at in range(0, len(reports), 7):
        pieces.run(*reports[at : at + 7])

    assert pieces.ledger.detectors() == whole.ledger.detectors()


def test_a_commit_that_fails_takes_the_evidence_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Host(tmp_path / "ledger.sqlite3")
    reports = swap()
    host.run(*reports[:200])
    before = host.watching.shown

    def full(now: float) -> None:
        raise LedgerFull

    monkeypatch.setattr(host.ledger, "prune", full)
    with pytest.raises(LedgerFull):
        host.run(*reports[200:])
    host.engine.recover()
    monkeypatch.undo()

    assert host.watching.shown == before
    host.run(*reports[200:])
    whole = Host(tmp_path / "whole.sqlite3")
    whole.run(*reports)
    assert host.ledger.detectors() == whole.ledger.detectors()


class LedgerFull(Exception):
    """What the test's ledger raises."""


def test_the_operator_clears_through_the_engine_and_it_lasts(tmp_path: Path) -> None:
    host = Host(tmp_path / "ledger.sqlite3")
    host.run(*swap())

    assert host.engine.clear(NEW)
    assert host.watching.shown.standings[0].evidence == {}
    assert not host.engine.clear("nobody")
    assert host.engine.accept_release(NEW)
    host.db.close()
    again = Host(tmp_path / "ledger.sqlite3")
    assert again.watching.shown.standings == ()


def test_orders_are_carried_out_between_batches(tmp_path: Path) -> None:
    host = Host(tmp_path / "ledger.sqlite3")
    answer = host.engine.orders.ask(lambda: host.engine.declare("shop-9@model-z", "model-z"))
    wrong = host.engine.orders.ask(lambda: host.engine.declare("x" * 10, 1 / 0))  # type: ignore[arg-type]
    host.run()

    assert answer.result(0) is True
    assert isinstance(wrong.exception(0), ZeroDivisionError)
    assert 'release="shop-9@model-z"' in host.page()
