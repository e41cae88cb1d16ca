"""What every dashboard shares: its variables, its marks at swaps, its links to the others."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as model

from grafana.expressions import written_out
from grafana.panels import DATASOURCE, Panel

TAG: Final = "agent-turn-monitor"
WINDOWS: Final = "5m,15m,1h,6h,1d"
USUAL_WINDOW: Final = "1h"
ALL: Final = ".+"


class Row(NamedTuple):
    """Panels under one heading."""

    title: str
    panels: tuple[Panel, ...]


def page(
    uid: str, title: str, description: str, found: Iterable[Row], *, baseline: bool = False
) -> str:
    """A dashboard as Grafana reads it. `baseline`: also choose what releases are held against."""
    built = (
        dashboard.Dashboard(title)
        .uid(uid)
        .description(description)
        .tags([TAG])
        .editable()
        .tooltip(model.DashboardCursorSync.CROSSHAIR)
        .time("now-6h", "now")
        .refresh("30s")
        .timezone("browser")
        .link(
            dashboard.DashboardLink("Other pages")
            .type(model.DashboardLinkType.DASHBOARDS)
            .tags([TAG])
            .as_dropdown(True)
            .include_vars(True)
            .keep_time(True)
        )
    )
    for variable in _variables(baseline):
        built = built.with_variable(variable)
    for row in found:
        built = built.with_row(dashboard.Row(row.title))
        for panel in row.panels:
            built = built.with_panel(panel)
    finished = built.build()
    finished.annotations = model.AnnotationContainer([_swaps(), _upgrades(), _alerts()])
    for number, placed in enumerate(finished.panels or (), start=1):
        placed.id_val = number  # links to a single panel name it by its id
    return json.dumps(finished, cls=JSONEncoder, indent=2, sort_keys=True) + "\n"


def _variables(baseline: bool) -> list[Any]:
    info = 'agent_monitor_release_info{job=~"$job",instance=~"$instance"}'
    found: list[Any] = [
        dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus"),
        _choice("job", "Job", "label_values(agent_monitor_build_info, job)"),
        _choice(
            "instance", "Instance", 'label_values(agent_monitor_build_info{job=~"$job"}, instance)'
        ),
        _choice("release", "Release", f"label_values({info}, release)"),
    ]
    if baseline:
        pairs = written_out("agent_monitor_regression_needed_turns{@by_release}")
        held = f"label_values({pairs}, baseline_release)"
        found.append(_choice("baseline", "Baseline", held))
    found.append(
        dashboard.IntervalVariable("window")
        .label("Window")
        .description("What rates and shares over time are taken over.")
        .values(WINDOWS)
        .current(model.VariableOption(True, USUAL_WINDOW, USUAL_WINDOW))
    )
    return found


def _choice(name: str, label: str, query: str) -> dashboard.QueryVariable:
    """One or more label values, at first all of them."""
    return (
        dashboard.QueryVariable(name)
        .label(label)
        .datasource(DATASOURCE)
        .query({"query": query, "refId": f"choice-{name}"})
        .refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(model.VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(ALL)
        .current(model.VariableOption(True, "All", "$__all"))
    )


class _Mark(model.AnnotationQuery):
    """An annotation of Prometheus, with the keys of it that the SDK's type leaves out."""

    def __init__(self, name: str, colour: str, expr: str, **more: Any) -> None:
        super().__init__(name, DATASOURCE, True, False, colour)
        self._more = {"expr": written_out(expr), **more}

    def to_json(self) -> dict[str, object]:
        return {**super().to_json(), **self._more}


def _swaps() -> model.AnnotationQuery:
    first = "min by (release) (agent_monitor_release_first_seen_timestamp_seconds{@by_release})"
    return _Mark(
        "First conversation of a release",
        "blue",
        f"{first} * 1000",
        step="60s",
        titleFormat="{{release}} was first seen",
        tagKeys="release",
        useValueForTime=True,
    )


def _upgrades() -> model.AnnotationQuery:
    return _Mark(
        "Change of the rules of verdicts",
        "purple",
        "sum by (instance) "
        '(increase(agent_monitor_events_total{@all,event="evaluator_replaced"}[2m])) > 0',
        step="60s",
        titleFormat="Verdicts changed their meaning: comparisons begin anew",
        tagKeys="instance",
    )


def _alerts() -> model.AnnotationQuery:
    return _Mark(
        "Alerts",
        "red",
        'ALERTS{alertname=~"Agent.+",alertstate="firing",job=~"$job|"}',
        step="60s",
        titleFormat="{{alertname}}",
        textFormat="{{release}}",
        tagKeys="severity",
    )
