"""The shipped settings of Prometheus and Alertmanager, judged by their own tools."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.alerting.alerts import Policy
from monitor.config import Settings


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
