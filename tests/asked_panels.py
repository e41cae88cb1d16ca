"""The panels of the dashboards' JSON, and what a Prometheus answers to their expressions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from prometheus_server import Prometheus

VARIABLES = {
    "$job": "agent-monitor",
    "$instance": ".+",
    "$release": ".+",
    "$baseline": ".+",
    "$window": "1h",
}
STEPS = 120


class Target(NamedTuple):
    """One expression of one panel."""

    page: str
    panel: str
    reference: str
    expression: str
    instant: bool
    legend: str

    def __str__(self) -> str:
        return f"{self.page}: {self.panel} {self.reference}"


class Range(NamedTuple):
    """The time that a page shows, and how often Prometheus scrapes."""

    start_s: int
    end_s: int
    scrape_s: int

    @property
    def step_s(self) -> int:
        return max((self.end_s - self.start_s) // STEPS, 1)

    def written_into(self, expression: str) -> str:
        """The expression with values for its variables, as Grafana works them out."""
        rate_s = max(self.step_s + self.scrape_s, 4 * self.scrape_s)
        values = {
            "$__rate_interval": f"{rate_s}s",
            "$__range": f"{self.end_s - self.start_s}s",
            **VARIABLES,
        }
        for name, value in values.items():
            expression = expression.replace(name, value)
        return expression


def pages(folder: Path) -> dict[str, dict[str, Any]]:
    """Every dashboard by the name of its file."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def panels(page: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The panels of a dashboard that show something, without its headings."""
    yield from (panel for panel in page["panels"] if panel["type"] != "row")


def targets(found: Mapping[str, dict[str, Any]]) -> Iterator[Target]:
    for name, page in found.items():
        for panel in panels(page):
            for target in panel["targets"]:
                yield Target(
                    name,
                    panel["title"],
                    target["refId"],
                    target["expr"],
                    bool(target.get("instant")),
                    target["legendFormat"],
                )


def answer(server: Prometheus, target: Target, shown: Range) -> list[dict[str, Any]]:
    """The series of a target, each with `metric` and a list of `values`."""
    expression = shown.written_into(target.expression)
    if not target.instant:
        return server.between(expression, shown.start_s, shown.end_s, shown.step_s)
    found = server.instant(expression, shown.end_s)
    return [{"metric": each["metric"], "values": [each["value"]]} for each in found]
