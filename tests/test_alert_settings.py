"""The shipped settings of Prometheus and Alertmanager, judged by their own tools."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.alerting.alerts import Policy
from monitor.alerting.pages import Alert
from monitor.backends.alertmanager import Alertmanager
from monitor.config import Settings
from monitor.roles.bench.alerts.daemons import Daemon, alertmanager


@pytest.fixture(scope="module")
def deploy(project) -> Path:
    return project / "deploy"


@pytest.fixture(scope="module")
def prometheus(deploy) -> dict[str, Any]:
    return yaml.safe_load((deploy / "prometheus.yaml").read_text())


def test_prometheus_takes_its_settings(deploy, require_tool):
    words = [require_tool("promtool"), "check", "config", deploy / "prometheus.yaml"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_alertmanager_takes_its_settings(deploy, require_tool):
    words = [require_tool("amtool"), "check-config", deploy / "alertmanager.yaml"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_prometheus_scrapes_the_monitors_pages_under_the_name_that_rules_know(prometheus):
    (scrape,) = prometheus["scrape_configs"]
    assert scrape["static_configs"] == [{"targets": [Settings().metrics.listen]}]
    assert scrape["job_name"] == Policy().job == Settings().alerts.labels["job"]


@pytest.mark.parametrize(("severity", "receiver"), [("page", "pages"), ("ticket", "tickets")])
def test_each_severity_has_its_route(deploy, require_tool, severity, receiver):
    words = [require_tool("amtool"), "config", "routes", "test", f"severity={severity}"]
    file = f"--config.file={deploy / 'alertmanager.yaml'}"
    done = subprocess.run([*words, file], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == [receiver]


def test_pages_wait_for_nobody_and_silence_the_tickets_of_their_release(deploy):
    settings = yaml.safe_load((deploy / "alertmanager.yaml").read_text())
    (pages,) = settings["route"]["routes"]
    assert pages["group_wait"] == "0s"
    assert settings["inhibit_rules"][0] == {
        "source_matchers": ['severity="page"', 'release=~".+"'],
        "target_matchers": ['severity="ticket"', 'release=~".+"'],
        "equal": ["job", "release"],
    }


def test_the_runbook_is_where_both_ways_say_it_is(project):
    assert Settings().alerts.runbook == Policy().runbook
    assert (project / Policy().runbook).is_file()


async def test_a_page_silences_the_tickets_of_its_release_only(deploy, tmp_path, require_tool):
    require_tool("prometheus-alertmanager")
    now = time.time()

    def alert(name: str, severity: str, **labels: str) -> Alert:
        named = {"alertname": name, "severity": severity, "job": "agent-monitor", **labels}
        return Alert(named, {}, now, now + 600.0)

    with alertmanager(tmp_path, (deploy / "alertmanager.yaml").read_text()) as running:
        client = Alertmanager(running.url)
        await client.tell(
            [
                alert("AgentCorrectnessRegression", "page", release="2"),
                alert("AgentCascadeRising", "ticket", release="2"),
                alert("AgentCascadeRising", "ticket", release="3"),
                alert("AgentMonitorDown", "page"),
                alert("AgentTurnsDropped", "ticket"),
                alert("AgentJudgeFailing", "ticket"),
                alert("AgentEvaluatorIdle", "ticket"),
            ]
        )
        await client.close()
        states = settled(running, 7)

    silenced = {name for name, state in states.items() if state == "suppressed"}
    assert silenced == {("AgentCascadeRising", "2"), ("AgentEvaluatorIdle", None)}


def settled(running: Daemon, count: int) -> dict[tuple[str, str | None], str]:
    """State by alert and release, once two looks in a row agree."""
    until = time.monotonic() + 20
    last: dict[tuple[str, str | None], str] = {}
    while time.monotonic() < until:
        found = {
            (each["labels"]["alertname"], each["labels"].get("release")): each["status"]["state"]
            for each in running.asked("/api/v2/alerts")
        }
        if found == last and len(found) == count and "unprocessed" not in found.values():
            return found
        last = found
        time.sleep(0.5)
    raise AssertionError(f"Alertmanager did not settle: {last}")
