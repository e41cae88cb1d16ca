"""The comparison of means, as UAEF makes it, and the command that shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from building_reports import inherited, passed, report, root
from released import NEW, OLD, fed, traffic

from monitor.cli import main
from monitor.ledger.database import Database
from monitor.ledger.schema import MIGRATIONS
from monitor.ledger.totals import Ledger
from monitor.releases.comparison import Metric, change, changes
from monitor.releases.watch import Watch
from monitor.roles.watching import Watching


def metric(baseline: float | None, current: float | None, *, rises: bool = True) -> Metric:
    return Metric("m", "conversation", baseline, current, rises)


@pytest.mark.parametrize(
    ("baseline", "current", "percent", "verdict", "severity"),
    [
        (0.8, 0.8, 0.0, "unchanged", None),
        (0.8, 0.76, -5.0, "unchanged", None),  # a regression lies below -5 %, not at it
        (0.8, 0.75, -6.25, "regression", "minor"),
        (1.0, 0.9, -10.0, "regression", "moderate"),
        (1.0, 0.8, -20.0, "regression", "moderate"),
        (1.0, 0.79, -21.0, "regression", "severe"),
        (0.8, 0.85, 6.25, "improvement", None),
        (0.0, 0.0, 0.0, "unchanged", None),
        (0.0, 0.1, 100.0, "improvement", None),
    ],
)
def test_a_change_of_five_percent_counts(
    baseline: float, current: float, percent: float, verdict: str, severity: str | None
) -> None:
    found = change(metric(baseline, current))

    assert found.percent == pytest.approx(percent)
    assert (found.verdict, found.severity) == (verdict, severity)


def test_where_less_is_better_a_rise_is_the_regression() -> None:
    assert change(metric(2.0, 3.0, rises=False)).severity == "severe"
    assert change(metric(2.0, 1.0, rises=False)).verdict == "improvement"
    assert change(metric(0.0, 1.0, rises=False)).severity == "severe"


def test_what_was_not_measured_is_unknown_and_not_zero() -> None:
    for nothing in (metric(None, 0.5), metric(0.5, None), metric(None, None)):
        assert (change(nothing).verdict, change(nothing).percent) == ("unknown", None)


def test_a_metric_may_have_a_threshold_of_its_own_and_zero_is_one() -> None:
    strict = changes([metric(1.0, 0.99)], thresholds={"m": 0.0})
    loose = changes([metric(1.0, 0.5)], threshold=60.0)

    assert strict[0].verdict == "regression"
    assert loose[0].verdict == "unchanged"


def test_evidence_weighs_both_histories() -> None:
    watch = fed(Watch(), traffic(OLD, 2000, 20), traffic(NEW, 400, 4))

    found = watch.evidence(OLD, NEW)

    assert found is not None
    assert found.conversations == (2000, 400)
    assert found.drop is not None
    assert found.drop[0] == pytest.approx(0.04)
    assert found.log10_evidence is not None
    assert found.log10_evidence > 2.3
    assert watch.evidence(OLD, "nobody") is None


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """An old release that passes, and a new one whose first call fails half the time."""
    path = tmp_path / "ledger.sqlite3"
    db = Database.open(path)
    kept, watching = Ledger(db), Watching(lambda state: Watch(kept=state))
    reports = [
        report(f"old-{n}", passed("1"), passed("2", turn_type="response"), release=OLD)
        for n in range(600)
    ] + [
        report(
            f"new-{n}",
            root("1") if n % 2 else passed("1"),
            inherited("2") if n % 2 else passed("2", turn_type="response"),
            release=NEW,
        )
        for n in range(100)
    ]
    with db.transaction():
        kept.keep_detectors(watching.fold(kept.fold(reports)))
    db.close()
    return path


def test_the_command_tells_changes_by_dimension_and_the_evidence(
    ledger: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", OLD, NEW, "--ledger", str(ledger), "--json"]) == 0

    found = json.loads(capsys.readouterr().out)
    by_name = {row["metric"]["name"]: row for row in found["changes"]}
    assert by_name["conversation_success"]["percent"] == pytest.approx(-50)
    assert by_name["conversation_success"]["severity"] == "severe"
    # Of 200 turns 50 failed by themselves and 50 inherited it.
    assert by_name["turn_correctness"]["metric"]["current"] == 0.5
    assert by_name["root_failures_per_turn"]["metric"]["current"] == pytest.approx(50 / 150)
    assert by_name["truthfulness"]["verdict"] == "unknown"
    assert found["evidence"]["drop"][0] == pytest.approx(0.5)
    assert found["evidence"]["log10_evidence"] > 2.3


def test_the_command_is_readable_by_people(
    ledger: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["compare", OLD, NEW, "--ledger", str(ledger), "--metric-threshold", "structural=7"])

    said = capsys.readouterr().out
    assert said.startswith(f"{NEW} against {OLD}\n")
    assert "regression (severe)" in said
    assert "log10 of the e-value" in said


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nobody"], "no release 'nobody'"),
        ([NEW, "--threshold", "-1"], "--threshold: want a percentage"),
        ([NEW, "--metric-threshold", "speed=1"], "no such metric"),
        ([NEW, "--metric-threshold", "structural=much"], "want a percentage"),
    ],
)
def test_wrong_words_are_told(
    ledger: Path, words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", OLD, *words, "--ledger", str(ledger)]) == 2
    assert complaint in capsys.readouterr().err


def test_an_older_ledger_names_what_brings_it_forward(
    ledger: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = Database.open(ledger)
    db.execute(f"PRAGMA user_version={len(MIGRATIONS) - 1}")
    db.close()

    assert main(["compare", OLD, NEW, "--ledger", str(ledger)]) == 3
    assert "`agent-monitor run` brings it forward" in capsys.readouterr().err
