"""From traffic to a page: monitor, Prometheus and Alertmanager as processes on this machine.

Baselines are of 200 conversations here, where the default wants 2,000, and all requests count as
of one kind, so that a test can play enough of them; no other rule of the detectors is changed.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request, urlopen

import pytest
import yaml
from running import Running, export, loose

from monitor.roles.bench.alerts.daemons import Daemon, Notified, Webhook, alertmanager, prometheus
from monitor.roles.demo.traffic import (
    BEFORE,
    TOOLS,
    DemoRelease,
    Played,
    rounds_refunds_down,
    traffic,
)

BASELINE, SWAP, ROLLBACK = 250, 120, 230
PER_REQUEST = 10
WAIT_S = 60
PAGE_S = 20
ALIKE = DemoRelease("2026.11.1", BEFORE.model, BEFORE.habits)
BROKEN = DemoRelease("2026.12.0", "atlas-5-mini", ((1.0, rounds_refunds_down),))
MENDED = DemoRelease("2026.12.1", BROKEN.model, BEFORE.habits)
PLAYED = {
    release.version: list(traffic(release, count, seed))
    for seed, (release, count) in enumerate(
        [(BEFORE, BASELINE), (ALIKE, SWAP), (BROKEN, SWAP), (MENDED, ROLLBACK)]
    )
}
OLD, WORSE = (f"{each.version}@{each.model}" for each in (BEFORE, BROKEN))
ENVIRONMENT = {
    "AGENT_MONITOR_CONVERSATION__SETTLE_S": "0.1",
    "AGENT_MONITOR_CONVERSATION__IDLE_S": "0.5",
    "AGENT_MONITOR_LEDGER__COMMIT_INTERVAL_S": "0.1",
    "AGENT_MONITOR_RELEASES__BASELINE_CONVERSATIONS": "200",
    "AGENT_MONITOR_RELEASES__INTENTS": "[]",
}


@pytest.fixture(scope="module")
def tools(require_tool) -> None:
    for tool in ("prometheus", "prometheus-alertmanager"):
        require_tool(tool)


class Shipped(NamedTuple):
    """The files of `deploy/`, at a pace that a test can wait for."""

    prometheus: str
    alertmanager: str
    rules: dict[str, str]

    def routing(self, webhook: Webhook) -> str:
        return self.alertmanager.replace("http://127.0.0.1:9095", webhook.url)


@pytest.fixture(scope="module")
def shipped(project) -> Shipped:
    deploy = project / "deploy"
    scraping = (deploy / "prometheus.yaml").read_text()
    routing = (deploy / "alertmanager.yaml").read_text()
    return Shipped(
        re.sub(r"_(interval|timeout): 5s", r"_\1: 1s", scraping),
        re.sub(r"group_(wait|interval): (1m|5m)", r"group_\1: 1s", routing),
        {path.name: path.read_text() for path in (deploy / "rules").glob("*.yaml")},
    )


@contextmanager
def watched(service: Running, told: Daemon, shipped: Shipped, folder: Path) -> Iterator[Daemon]:
    settings = yaml.safe_load(shipped.prometheus)
    (scrape,) = settings["scrape_configs"]
    scrape["static_configs"] = [{"targets": [service.pages.removeprefix("http://")]}]
    (manager,) = settings["alerting"]["alertmanagers"]
    manager["static_configs"] = [{"targets": [told.address]}]
    with prometheus(folder, json.dumps(settings), shipped.rules) as running:
        yield running


def files(folder: Path) -> list[str]:
    """The options that name references and contracts, once these are written."""
    references = [played.reference for each in PLAYED.values() for played in each]
    lines = [json.dumps(reference) for reference in references if reference]
    (folder / "references.jsonl").write_text("\n".join(lines))
    (folder / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    return ["--references", "references.jsonl", "--tools", "tools.json"]


def play(service: Running, release: DemoRelease) -> None:
    """Send all conversations of a release, and wait until each has its final report."""
    played: Sequence[Played] = PLAYED[release.version]
    for start in range(0, len(played), PER_REQUEST):
        group = [loose(one.request) for one in played[start : start + PER_REQUEST]]
        assert service.post(export(list(itertools.chain.from_iterable(group)))) == 200
    pattern = re.compile(
        r"^agent_monitor_conversations_total"
        rf'{{[^}}]*release="{re.escape(release.version)}@[^}}]*}} (\S+)$',
        re.M,
    )
    eventually(lambda: sum(map(float, pattern.findall(service.page("/metrics")[1]))) == len(played))


def eventually(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < until, "it never came to hold"
        time.sleep(0.1)


def clear(service: Running, release: str) -> None:
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(f"{service.pages}/releases/{release}/clear", b"{}", headers)) as answer:
        assert answer.status == 200


def evaluated(watching: Daemon) -> None:
    """Wait until Prometheus has scraped and evaluated everything that is on the page now."""
    since = time.time()

    def last() -> bool:
        groups = watching.asked("/api/v1/rules")["data"]["groups"]
        (group,) = [each for each in groups if each["name"] == "agent-monitor-regressions"]
        found = re.sub(r"\.\d+", "", group["lastEvaluation"])
        return time.mktime(time.strptime(found[:19], "%Y-%m-%dT%H:%M:%S")) > since + 2.0

    eventually(last)


def about(release: str, status: str) -> Callable[[Notified], bool]:
    return lambda heard: (heard.labels.get("release"), heard.status) == (release, status)


def test_a_swap_that_breaks_arguments_pages_and_one_without_change_does_not(
    tmp_path, tools, shipped
):
    with (
        Webhook() as webhook,
        alertmanager(tmp_path, shipped.routing(webhook)) as told,
        Running(tmp_path, *files(tmp_path), environment=ENVIRONMENT) as service,
        watched(service, told, shipped, tmp_path) as watching,
    ):
        play(service, BEFORE)
        play(service, ALIKE)
        evaluated(watching)
        assert webhook.heard == []

        play(service, BROKEN)
        page = webhook.wait(about(WORSE, "firing"), PAGE_S)
        clear(service, WORSE)
        webhook.wait(about(WORSE, "resolved"), PAGE_S)
        heard = webhook.heard

    assert page.path == "/pages"
    assert page.labels == {
        "alertname": "AgentCorrectnessRegression",
        "severity": "page",
        "job": "agent-monitor",
        "release": WORSE,
        "baseline_release": OLD,
    }
    assert "What rose most: inconsistent_parameter_values" in page.annotations["description"]
    assert {each.labels["release"] for each in heard} == {WORSE}
    assert [each.status for each in heard] == ["firing", "resolved"]


def test_a_page_that_was_pushed_is_the_rules_page_and_outlives_a_restart(tmp_path, tools, shipped):
    options = files(tmp_path)
    with (
        Webhook() as webhook,
        alertmanager(tmp_path, shipped.routing(webhook)) as told,
    ):
        environment = {**ENVIRONMENT, "AGENT_MONITOR_ALERTS__ALERTMANAGER_URL": told.url}
        with Running(tmp_path, *options, environment=environment) as service:
            play(service, BEFORE)
            play(service, BROKEN)
            page = webhook.wait(about(WORSE, "firing"), PAGE_S)
            assert service.stop() == 0
        with (
            Running(tmp_path, *options, environment=environment) as service,
            watched(service, told, shipped, tmp_path) as watching,
        ):
            evaluated(watching)
            alerts = told.asked("/api/v2/alerts")
            play(service, MENDED)
            webhook.wait(about(WORSE, "resolved"), PAGE_S)
            evaluated(watching)
            heard = webhook.heard

    assert "What rose most: inconsistent_parameter_values" in page.annotations["description"]
    assert [alert["labels"]["release"] for alert in alerts] == [WORSE]
    assert [(each.labels["release"], each.status) for each in heard] == [
        (WORSE, "firing"),
        (WORSE, "resolved"),
    ]
