"""`evaluate`: measures worked out by hand, and the same as a second program works out."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from building_reports import inherited, passed, report, root, unscored

from monitor import cli
from monitor.agreement.intervals import clustered, wilson
from monitor.agreement.labelled import Label, parse_label
from monitor.agreement.measures import Figure, figures, kappa
from monitor.agreement.tallies import tally
from monitor.errors import InvalidInput
from monitor.roles.demo.traffic import TOOLS, DemoRelease, traffic
from monitor.verdict import Report

SECOND_PROGRAM = Path(__file__).resolve().parents[2] / "shared" / "tools" / "score.py"
COUNTED_ONLY = {"abstain", "abstain_agent_fault", "not_agent_fault_no_turn"}


def label(**fields: Any) -> Label:
    return parse_label(json.dumps({"dialog_id": "c", **fields}).encode(), "labels, line 1")


def turn_label(turn_no: int, verdict: str, **more: Any) -> dict[str, Any]:
    return {"turn_no": turn_no, "verdict": verdict, **more}


def found(labels_and_reports: list[tuple[Label, Report]]) -> dict[str, Figure]:
    tallies = [tally(told, made) for told, made in labels_and_reports]
    return {figure.name: figure for figure in figures(tallies)}


def test_a_wilson_interval_is_the_textbooks():
    low, high = wilson(8, 10) or (0, 0)

    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    assert wilson(0, 0) is None


def test_turns_of_one_conversation_are_not_independent():
    """Ten turns that share one fate say no more than one turn."""
    sums = [[10.0, 10.0]] * 6 + [[0.0, 10.0]] * 4

    interval = clustered(sums, lambda totals: totals[..., 0] / totals[..., 1])

    assert interval is not None
    assert interval.low < 0.4
    assert interval.high > 0.8
    assert clustered(sums, lambda totals: totals[..., 0] / totals[..., 1]) == interval
    assert clustered(sums[:1], lambda totals: totals[..., 0] / totals[..., 1]) is None


def test_kappa_is_the_textbooks():
    """20 both, 5 and 10 one only, 15 neither: observed .70, by chance .50."""
    import numpy as np

    assert float(kappa(np.array([20.0, 5.0, 10.0, 15.0]))) == pytest.approx(0.4)
    assert np.isnan(kappa(np.array([[7.0, 0.0, 0.0, 0.0], [7.0, 3.0, 0.0, 0.0]]))).all()


def test_a_root_and_its_cascade_are_counted_apart():
    told = label(
        outcome={"pass": False},
        first_failure_turn=1,
        root_cause="missing_parameters",
        turn_labels=[
            turn_label(1, "fail", role="root", failure_reason="missing_parameters"),
            turn_label(2, "fail", role="cascade", failure_reason="prior_action_failed"),
            turn_label(3, "fail", role="cascade", failure_reason="prior_action_failed"),
            turn_label(4, "pass"),
            turn_label(5, "neutral"),
        ],
    )
    made = report(
        "c",
        root("a", turn_no=1),
        inherited("b", turn_no=2),
        unscored("c", turn_no=3),
        root("d", turn_no=4),
        root("e", turn_no=5),
        first_failure_turn=1,
        root_cause="missing_parameters",
    )

    by_name = found([(told, made)])

    shares = {name: (figure.of, figure.over) for name, figure in by_name.items() if figure.over}
    assert shares == {
        "located_exact": (1, 1),
        "located_within1": (1, 1),
        "abstain": (0, 1),
        "root_reason_acc": (1, 1),
        "turn_precision": (2, 3),
        "turn_recall": (2, 3),
        "reason_acc_on_caught": (2, 2),
        "cascade_precision": (1, 1),
        "cascade_recall": (1, 1),
        "cascade_recall_all": (1, 2),
        "fails_confirmed": (1, 1),
        "outcome_agreement": (1, 1),
        "outcome_kappa": (1, 1),
        "turns_decided": (4, 5),
    }
    assert by_name["outcome_kappa"].value is None


def test_turns_of_traces_are_found_by_their_spans():
    told = label(
        first_failure_turn=2,
        turn_labels=[turn_label(1, "pass"), turn_label(2, "fail")],
        spans={"1": "s1", "2": "s2"},
    )
    made = report(
        "c",
        unscored("x", turn_no=1, span_ids=("other",)),
        passed("a", turn_no=2, span_ids=("s1",)),
        root("b", turn_no=3, span_ids=("s2",)),
        first_failure_turn=3,
    )

    by_name = found([(told, made)])

    assert by_name["located_exact"].value == 1.0
    assert by_name["turn_recall"].value == 1.0


def test_an_agent_is_the_logs_where_the_report_names_none():
    told = label(first_failure_turn=1, human={"mistake_step": 0, "mistake_agent": "Web-Surfer"})
    made = report("c", root("a", turn_no=1), first_failure_turn=1)

    without, given = tally(told, made), tally(told, made, {1: "web surfer"})

    assert figures([without])[-4].value is None
    assert (given["blamed_right"], given["blamed"]) == (1, 1)


def test_a_conversation_without_a_report_is_missing_and_counts_in_no_share():
    assert tally(label(first_failure_turn=1), None) == {"missing": 1}


def test_a_broken_label_names_its_line():
    with pytest.raises(InvalidInput, match=r"labels, line 3: .*dialog_id"):
        parse_label(b"{}", "labels, line 3")


def written_set(folder: Path) -> Path:
    own = folder / "shop"
    own.mkdir()
    gold = {"tool_id": "shop", "action": "find", "args": {"order_id": "SO-10012"}}
    wrong = {**gold, "args": {"order_id": "SO-10034"}}
    dialogs, labels = [], []
    for number, done in enumerate((gold, wrong), start=1):
        failed = done is wrong
        turn = {"turn_no": 1, "turn": "Tool", "gold_turn": gold, "predict_turn": done}
        dialogs.append({"dialog_id": f"c-{number}", "turns": [turn]})
        verdict = turn_label(1, "fail" if failed else "pass", role="root" if failed else None)
        labels.append(
            {
                "dialog_id": f"c-{number}",
                "outcome": {"pass": not failed},
                "turn_labels": [verdict],
                "first_failure_turn": 1 if failed else None,
                "root_cause": "inconsistent_parameter_values" if failed else None,
            }
        )
    (own / "dialogs.jsonl").write_text("\n".join(map(json.dumps, dialogs)))
    (own / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)))
    return own


def test_the_command_prints_a_table_of_what_can_be_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    written_set(tmp_path)

    code = cli.main(["evaluate", str(tmp_path)])

    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert code == 0
    assert rows[2][1:4] == ["dialogs", "located_exact", "1.000"]
    assert {row[2] for row in rows[2:]} >= {"clean_specificity", "outcome_agreement"}
    assert not any("first_error_acc" in row for row in rows)


def test_traces_are_run_with_references_and_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """A careful agent: nothing may be named, and only a reference lets replies be decided."""
    played = [one for one in traffic(DemoRelease("1", "m", ()), 8, 3) if one.reference]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    for name, documents in (
        ("traces", [one.request for one in played]),
        ("references", [one.reference for one in played]),
        ("labels", [{"dialog_id": p.conversation_id, "outcome": {"pass": True}} for p in played]),
    ):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, documents)))

    assert cli.main(["evaluate", str(tmp_path), "--json"]) == 0

    references, traces = map(json.loads, capsys.readouterr().out.splitlines())
    assert (references["way"], traces["way"]) == ("references", "traces")
    for row in (references, traces):
        assert row["clean_specificity"]["of"] == row["clean_specificity"]["over"] == len(played)
    assert references["turns_decided"]["value"] == 1.0
    assert 0 < traces["turns_decided"]["value"] <= 1.0


def test_a_folder_without_labels_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["evaluate", str(tmp_path)]) == 2
    assert "no labels.jsonl" in capsys.readouterr().err


def test_a_conversation_that_got_no_report_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    own = written_set(tmp_path)
    with (own / "labels.jsonl").open("a") as file:
        file.write('\n{"dialog_id": "c-9"}')

    assert cli.main(["evaluate", str(own)]) == 1
    assert "1 labelled conversations got no report" in capsys.readouterr().err


def second_opinion(reports: Path, folder: Path) -> dict[str, Any]:
    told = subprocess.run(
        [
            *(sys.executable, SECOND_PROGRAM, reports, folder / "labels.jsonl.gz"),
            *("--dialogs", folder / "dialogs.jsonl.gz"),
        ],
        capture_output=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(told.stdout)
    return answer


def test_measures_agree_with_a_second_program_on_every_set(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    if not SECOND_PROGRAM.is_file():
        pytest.skip("shared/tools/score.py not present")
    sets = shared_data / "trajectories"

    assert cli.main(["evaluate", str(sets), "--out", str(tmp_path), "--json"]) == 0

    compared = 0
    for row in map(json.loads, capsys.readouterr().out.splitlines()):
        reports = tmp_path / f"{row['set']}.{row['way']}.jsonl"
        if not reports.is_file():
            continue
        for name, value in second_opinion(reports, sets / row["set"]).items():
            mine = row.get(name)
            if mine is None:
                continue
            ours = mine["of"] if name in COUNTED_ONLY else mine["value"]
            assert (ours if ours is None else round(ours, 3)) == value, (row["set"], name)
            compared += 1
    assert compared > 18 * 18


def test_packed_sets_are_read_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    own = written_set(tmp_path)
    cli.main(["evaluate", str(own)])
    plain = capsys.readouterr().out
    for path in [*own.iterdir()]:
        with gzip.open(path.with_name(f"{path.name}.gz"), "wb") as file:
            file.write(path.read_bytes())
        path.unlink()

    cli.main(["evaluate", str(own)])

    assert capsys.readouterr().out == plain
