"""The estimate as every host keeps it: from reports, each once, and as far as the file goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from building_reports import abandon, passed, report

from monitor.ledger.database import Database
from monitor.ledger.sampled import Sampled
from monitor.ledger.snapshot import read_totals
from monitor.ledger.tally import MICRO
from monitor.ledger.totals import Ledger
from monitor.releases.estimate import Sums
from monitor.roles.estimating import Estimating
from monitor.verdict import Outcome, Report, Sample, SampledTurn

JUDGE = "grader/1"
RELEASE = "shop-1@model-a"


class Folding:
    """A host that only folds reports, over a file that may be opened again."""

    def __init__(self, path: Path | str = ":memory:", judge: str = JUDGE) -> None:
        self.db = Database.open(path)
        self.ledger = Ledger(self.db)
        self.estimating = Estimating(self.db, Sampled(self.db, judge), judge)

    def take(self, *reports: Report) -> None:
        with self.db.transaction():
            self.estimating.fold(self.ledger.fold(reports))

    def sums(self) -> Sums:
        kept = self.estimating.sums_of(RELEASE)
        return Sums() if kept is None else kept.sums

    def counted(self, family: str, parts: int = 1) -> dict[tuple[str, ...], float]:
        found = read_totals(self.db.reader()).family(family)
        return {labels: count / parts for labels, count in found.items()}


def drawn(name: str, revision: int = 1, **outcome: str) -> Report:
    """A conversation of two turns; from its second revision on with what came of the draw."""
    said = outcome.pop("said", "")
    verdicts: dict[str, Outcome] = {"p": "pass", "f": "fail", "-": "unscored"}
    turns = tuple(
        SampledTurn(f"{name}{n}", "contract:pass", verdicts[said[n]] if said else None)
        for n in range(2)
    )
    sample = Sample(0.5, "active-1", turns, **outcome)
    own = (passed(f"{name}0"), passed(f"{name}1"))
    return report(name, *own, revision=revision, sample=sample)


def judged(name: str, said: str, judge: str = JUDGE) -> list[Report]:
    return [drawn(name), drawn(name, 2, said=said, judge=judge)]


def test_a_judged_conversation_enters_with_its_answer_and_by_inverse_probability():
    host = Folding()
    host.take(drawn("a"))
    assert host.sums() == Sums()
    host.take(drawn("a", 2, said="pf", judge=JUDGE))
    labels = (RELEASE, "1", JUDGE)
    assert host.counted("estimated", MICRO) == {labels: 2}
    assert host.counted("predicted_correct", MICRO) == {labels: pytest.approx(2 * 0.9)}
    assert host.counted("ipw_judged_correct", MICRO) == {labels: 1 / 0.5}
    assert host.counted("ipw_predicted_correct", MICRO) == {labels: pytest.approx(2 * 0.9 / 0.5)}
    assert host.counted("judged") == {(RELEASE, JUDGE, "pass"): 1, (RELEASE, JUDGE, "fail"): 1}
    sums = host.sums()
    assert (sums.n, sums.drawn, sums.judged, sums.l, sums.y) == (1, 1, 2, 2.0, 2.0)
    assert sums.g == pytest.approx(1.8 - 3.6)


def test_what_nobody_was_asked_about_enters_as_predicted_and_says_why():
    host = Folding()
    host.take(report("plain", passed("x")), drawn("a"), drawn("a", 2, skipped="hour_usd"))
    assert host.counted("judge_skipped") == {("hour_usd",): 1}
    assert host.counted("estimated", MICRO) == {(RELEASE, "1", JUDGE): 3}
    assert host.counted("ipw_judged_correct", MICRO) == {}
    assert (host.sums().n, host.sums().drawn) == (2, 0)


def test_reports_that_come_again_add_nothing():
    once, again = Folding(), Folding()
    reports = [*judged("a", "pf"), drawn("b"), drawn("b", 2, skipped="queue_full")]
    once.take(*reports)
    again.take(*reports, *reports)
    again.take(*reversed(reports))
    again.take(drawn("a", 3, said="pp", judge=JUDGE), drawn("b", 3, skipped="queue_full"))
    assert again.sums() == once.sums()
    for family in ("estimated", "predicted_correct", "judged", "judge_skipped"):
        assert again.counted(family) == once.counted(family)


def test_a_restart_goes_on_where_the_file_is(tmp_path):
    whole, apart = Folding(), Folding(tmp_path / "ledger.sqlite3")
    names = [f"c{n}" for n in range(40)]
    reports = [one for name in names for one in judged(name, "pf" if name > "c3" else "pp")]
    whole.take(*reports)
    apart.take(*reports[:41])
    abandon(apart.db, lambda: apart.estimating.fold(apart.ledger.fold(reports[41:])))
    apart.db.close()
    apart = Folding(tmp_path / "ledger.sqlite3")
    apart.take(*reports[41:])
    assert apart.sums() == whole.sums()
    assert apart.estimating.shown == whole.estimating.shown
    assert set(whole.estimating.shown) == {RELEASE}


def test_a_new_judge_begins_a_new_series(tmp_path):
    path = tmp_path / "ledger.sqlite3"
    before = Folding(path)
    before.take(*judged("a", "pp"), drawn("late"))
    before.db.close()
    host = Folding(path, "grader/2")
    host.take(*judged("b", "pf", "grader/2"), drawn("late", 2, said="pp", judge=JUDGE))
    assert host.counted("judged") == {
        (RELEASE, JUDGE, "pass"): 4,
        (RELEASE, "grader/2", "pass"): 1,
        (RELEASE, "grader/2", "fail"): 1,
    }
    kept = host.estimating.sums_of(RELEASE)
    assert (kept.judge, kept.sums.n) == ("grader/2", 1)
