"""A real Prometheus that holds what a monitor showed of seeded traffic, and what rules made of it.

Past time is filled in: records by promtool, alerts from the answers to their expressions.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import promql_parser
from asked_panels import Range
from prometheus_server import Prometheus, Sample, filled, recorded, serving
from rules_shipped import FOLDER, rules
from seeded_traffic import PAGE_S, Seeded, fresh, seeded

PASSES = 3
"""Records that are made of records, which the promtool of one pass does not see."""


@contextmanager
def seeded_server(folder: Path) -> Iterator[tuple[Prometheus, Range]]:
    """After a swap that broke arguments, with a judge, labels and outcomes."""
    with _server(folder, seeded(folder)) as found:
        yield found


@contextmanager
def fresh_server(folder: Path) -> Iterator[tuple[Prometheus, Range]]:
    """Before anything was sent."""
    with _server(folder, fresh(folder)) as found:
        yield found


@contextmanager
def _server(folder: Path, scraped: Seeded) -> Iterator[tuple[Prometheus, Range]]:
    prometheus, promtool = _program("prometheus"), _program("promtool")
    filled(promtool, folder, scraped.samples)
    for _ in range(PASSES):
        with serving(prometheus, folder) as server:
            span = (scraped.start_s, scraped.end_s)
            recorded(promtool, server, folder, sorted(FOLDER.glob("*.yaml")), span)
    with serving(prometheus, folder) as server:
        alerts = sorted(_alerts(server, scraped), key=lambda sample: sample.at_s)
    if alerts:
        filled(promtool, folder, alerts)
    with serving(prometheus, folder) as server:
        yield server, Range(scraped.start_s, scraped.end_s, PAGE_S)


def _alerts(server: Prometheus, scraped: Seeded) -> Iterator[Sample]:
    """The series of firing alerts, as Prometheus writes them while it evaluates."""
    for rule in rules():
        if "alert" not in rule:
            continue
        found = server.between(rule["expr"], scraped.start_s, scraped.end_s, PAGE_S)
        for each in found:
            yield from _firing(rule, each)


def _firing(rule: dict[str, Any], series: dict[str, Any]) -> Iterator[Sample]:
    since = float(series["values"][0][0])
    if "for" in rule:
        since += promql_parser.parse_duration(rule["for"]).total_seconds()
    labels = {name: value for name, value in series["metric"].items() if name != "__name__"}
    labels |= {"alertname": rule["alert"], "alertstate": "firing", **rule["labels"]}
    written = ",".join(f"{name}={json.dumps(value)}" for name, value in labels.items())
    for at_s, _ in series["values"]:
        if float(at_s) >= since:
            yield Sample(f"ALERTS{{{written}}}", "1", float(at_s))


def _program(name: str) -> str:
    found = shutil.which(name)
    assert found, f"{name} is not installed"
    return found
