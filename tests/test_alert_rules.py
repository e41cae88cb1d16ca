"""The rules of `deploy/rules`: written by the program, sound, and tested by promtool."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.alerting import alerts, recording
from monitor.alerting.alerts import Policy, rule_files
from monitor.alerting.budget import burn_factor, largest_burn
from monitor.cli import main
from monitor.errors import ConfigurationError
from monitor.exposition import catalogue, group_catalogue, judge_catalogue, release_catalogue
from monitor.exposition.catalogue import Metric

HERE = Path(__file__).resolve().parent / "rules"
TESTS = sorted(HERE.glob("*_test.yaml"))
PAGES = {
    *("AgentCorrectnessRegression", "AgentCorrectnessBudgetBurn", "AgentMonitorDown"),
    "AgentJudgeSteered",
}
TICKETS = {
    *("AgentFailureReasonShift", "AgentCascadeRising", "AgentSilentDrift"),
    *("AgentJudgeDisagreesWithHumans", "AgentJudgeFailing", "AgentJudgeBudgetExhausted"),
    *("AgentMonitorScoringLag", "AgentTurnsDropped", "AgentEvaluatorIdle"),
    *("AgentReleaseLabelOverflow", "AgentPayloadsRefused", "AgentSourceDown", "AgentMonitorFaults"),
    *("AgentReportsUndelivered", "AgentPagesUntold", "AgentGroupBehind", "AgentGroupsUnmeasured"),
    *("AgentJudgeAbstaining", "AgentJudgeUnsound"),
}
METRIC = re.compile(r"\bagent_monitor_\w+")


@pytest.fixture(scope="module")
def folder(project) -> Path:
    return project / "deploy" / "rules"


@pytest.fixture(scope="module")
def rules(folder) -> list[dict[str, Any]]:
    """Every rule of every file."""
    files = [yaml.safe_load(path.read_text()) for path in sorted(folder.glob("*.yaml"))]
    return [rule for file in files for group in file["groups"] for rule in group["rules"]]


@pytest.fixture(scope="module")
def alerting(rules) -> dict[str, dict[str, Any]]:
    return {rule["alert"]: rule for rule in rules if "alert" in rule}


def test_the_files_are_what_the_program_writes(folder):
    shipped = {path.name: path.read_text() for path in folder.glob("*")}
    assert shipped == rule_files(Policy())


def test_promtool_finds_no_fault_with_the_rules(folder, require_tool):
    words = [require_tool("promtool"), "check", "rules", *sorted(folder.glob("*.yaml"))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_the_rules_fire_and_keep_silent_as_promised(path, require_tool):
    words = [require_tool("promtool"), "test", "rules", path]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_its_severity(alerting):
    assert {name: rule["labels"] for name, rule in alerting.items()} == {
        **{name: {"severity": "page"} for name in PAGES},
        **{name: {"severity": "ticket"} for name in TICKETS},
    }


def test_what_may_flap_is_kept_firing(alerting):
    latched = {"AgentCorrectnessRegression", "AgentSilentDrift", "AgentMonitorDown"}
    kept = {name for name, rule in alerting.items() if "keep_firing_for" in rule}
    assert kept == alerting.keys() - latched


def test_every_alert_is_tested_firing(alerting):
    fired: set[str] = set()
    for path in TESTS:
        for test in yaml.safe_load(path.read_text())["tests"]:
            for check in test.get("promql_expr_test", []):
                samples = str(check.get("exp_samples", ""))
                fired |= set(re.findall(r'alertname="(\w+)",alertstate="firing"', samples))
            for check in test.get("alert_rule_test", []):
                fired |= {check["alertname"]} if check.get("exp_alerts") else set()
    assert fired == set(alerting)


def test_every_alert_tells_what_happened_and_where_its_section_of_the_runbook_is(alerting, project):
    for name, rule in alerting.items():
        said = rule["annotations"]
        assert said.keys() == {"summary", "description", "runbook_url"}
        assert all(said.values())
        page, _, fragment = said["runbook_url"].partition("#")
        headings = re.findall(r"^## (\w+)$", (project / page).read_text(), re.M)
        assert fragment == name.lower()
        assert name in headings


def test_the_runbook_says_of_each_alert_what_it_means_and_what_to_do(alerting, project):
    text = (project / "deploy" / "runbook.md").read_text()
    sections = dict(re.findall(r"^## (Agent\w+)\n(.*?)(?=^## |\Z)", text, re.M | re.S))
    assert sections.keys() == alerting.keys()
    for name, section in sections.items():
        for part in ("**Means.**", "**Look at.**", "**Do.**"):
            assert part in section, (name, part)


def test_recording_rules_are_named_level_metric_operation(rules):
    names = [rule["record"] for rule in rules if "record" in rule]
    assert len(names) == len(set(names))
    for name in names:
        assert re.fullmatch(r"[a-z_]+:agent_monitor_[a-z0-9_]+:[a-z0-9_]+", name), name


def test_every_metric_that_a_rule_reads_is_exposed(rules):
    exposed: set[str] = set()
    for source in (catalogue, release_catalogue, judge_catalogue, group_catalogue):
        for metric in vars(source).values():
            if isinstance(metric, Metric):
                exposed |= _series(metric)
    recorded = {rule["record"] for rule in rules if "record" in rule}
    for rule in rules:
        named = set(re.findall(r"[a-z_]*:?agent_monitor_\w+(?::\w+)?", rule["expr"]))
        assert named <= exposed | recorded, named - exposed - recorded


def _series(metric: Metric) -> set[str]:
    endings = {
        "counter": ("_total",),
        "gauge": ("",),
        "histogram": ("_bucket", "_sum", "_count"),
        "info": ("_info",),
    }
    return {metric.name + ending for ending in endings[metric.kind]}


@pytest.mark.parametrize(
    ("objective", "factor"),
    [(0.6, 1.5), (0.8, 2.0), (0.9, 3.0), (0.95, 4.0), (0.99, 10.0), (0.999, 14.4)],
)
def test_the_burn_that_pages_can_always_be_reached(objective, factor):
    assert burn_factor(objective) == factor
    assert 1.0 < factor < largest_burn(objective)


@pytest.mark.parametrize("objective", [0.0, 0.5, 1.0, float("nan")])
def test_an_objective_that_no_agent_has_is_refused(objective):
    with pytest.raises(ConfigurationError, match="objective"):
        burn_factor(objective)


def test_a_job_that_would_break_the_rules_is_refused():
    with pytest.raises(ConfigurationError, match="job"):
        rule_files(Policy(job='a"} or vector(1) #'))


def test_another_objective_changes_the_budget_and_its_alert():
    text = rule_files(Policy(objective=0.95))["correctness.yaml"]
    assert f"(1 - {recording.CORRECTNESS}) / 0.05\n" in text
    assert "release:agent_monitor_failure_budget_burn:ratio_rate1h > 4\n" in text


def test_the_command_writes_rules_that_promtool_takes(tmp_path, capsys, require_tool):
    folder = tmp_path / "rules"
    given = ("--objective", "0.97", "--job", "shop", "--runbook", "https://wiki.example/agents")

    assert main(["rules", str(folder), *given]) == 0

    written = sorted(folder.glob("*"))
    assert sorted(capsys.readouterr().out.splitlines()) == [str(path) for path in written]
    text = (folder / "health.yaml").read_text()
    assert 'absent(up{job="shop"} == 1)' in text
    assert "https://wiki.example/agents#agentmonitordown" in text
    words = [require_tool("promtool"), "check", "rules", *written]
    assert subprocess.run(words, capture_output=True, timeout=60).returncode == 0


def test_a_folder_that_cannot_be_written_is_named(tmp_path, capsys):
    (tmp_path / "taken").write_text("a file")
    assert main(["rules", str(tmp_path / "taken")]) == 2
    assert "taken: cannot write" in capsys.readouterr().err


def test_alerts_that_compare_releases_have_the_labels_that_inhibition_needs(alerting):
    for name in ("AgentCorrectnessRegression", "AgentCascadeRising", "AgentSilentDrift"):
        assert "by (job, release" in alerting[name]["expr"]
    assert alerts.REGRESSION in alerting
