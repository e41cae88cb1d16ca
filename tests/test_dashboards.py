"""The dashboards: written by the program, sound in themselves, and of metrics that exist."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import promql_parser
import pytest
from asked_panels import Range, Target, pages, panels, targets
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard
from rules_shipped import recorded, rules

from grafana.write import PAGES, write
from monitor.exposition import (
    catalogue,
    group_catalogue,
    judge_catalogue,
    release_catalogue,
)
from monitor.exposition.catalogue import Metric

ROOT = Path(__file__).resolve().parents[1]
FOUND = pages(ROOT / "grafana")
TARGETS = list(targets(FOUND))
PANELS = [(name, panel) for name, page in FOUND.items() for panel in panels(page)]
SHOWN = Range(0, 21_600, 15)
WINDOWS = {"$__rate_interval", "$__range", "$window"}
VARIABLES = ["datasource", "job", "instance", "release", "window"]
OF_PROMETHEUS = {"up": set(), "ALERTS": {"alertname", "alertstate", "severity"}}
OF_A_TARGET = {"job", "instance"}
UNITS = {
    *("short", "none", "percentunit", "ops", "s", "bytes", "currencyUSD", "dateTimeAsIso"),
}
EVERY_TARGET = pytest.mark.parametrize("target", TARGETS, ids=str)


@cache
def exposed() -> dict[str, set[str]]:
    """The names of all series that the monitor can show, with their labels."""
    endings = {
        "counter": ("_total",),
        "gauge": ("",),
        "histogram": ("_bucket", "_sum", "_count"),
        "info": ("_info",),
    }
    found = {}
    for source in (catalogue, release_catalogue, judge_catalogue, group_catalogue):
        for metric in vars(source).values():
            if isinstance(metric, Metric):
                for ending in endings[metric.kind]:
                    own = {"le"} if ending == "_bucket" else set()
                    found[metric.name + ending] = {*metric.labels, *own, *OF_A_TARGET}
    return found


def selectors(expression: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Each metric that an expression reads, with its matchers. Raises ValueError for no PromQL."""
    found: list[Any] = []

    def look(node: Any) -> None:
        if type(node).__name__ == "VectorSelector":
            found.append(node)

    promql_parser.walk(promql_parser.parse(SHOWN.written_into(expression)), look)
    for node in found:
        yield node.name, {each.name: each.value for each in node.matchers.matchers}


def written_matchers(expression: str, name: str) -> list[str]:
    """The matchers behind each mention of a metric, as they are written."""
    return re.findall(rf"(?<![\w:]){re.escape(name)}(?![\w:])(?:\{{(.*?)\}})?", expression)


def test_the_files_are_what_the_program_writes(tmp_path):
    write(tmp_path)
    shipped = {path.name: path.read_text() for path in (ROOT / "grafana").glob("*.json")}
    written = {path.name: path.read_text() for path in tmp_path.glob("*")}
    assert shipped == written, "write the pages again: python -m grafana.write"
    assert set(shipped) == set(PAGES)


def test_grafanas_own_types_read_each_page_and_lose_nothing():
    plugins.register_default_plugins()
    for page in FOUND.values():
        again = json.loads(json.dumps(Dashboard.from_json(page), cls=JSONEncoder))
        for panel in panels(again):
            defaults = panel["fieldConfig"]["defaults"]
            if defaults.get("custom") == {}:
                del defaults["custom"]
        assert {**again, "annotations": None} == {**page, "annotations": None}


def test_there_are_six_pages_that_link_to_each_other():
    titles = [page["title"].removeprefix("Agent monitor: ") for page in FOUND.values()]
    assert sorted(titles) == [
        "Chain length and latency",
        "Failure reasons",
        "Judge",
        "Monitor health",
        "Overview",
        "Release compare",
    ]
    assert len({page["uid"] for page in FOUND.values()}) == len(FOUND)
    for page in FOUND.values():
        (link,) = page["links"]
        assert (link["type"], link["tags"]) == ("dashboards", page["tags"])
        assert link["includeVars"]
        assert link["keepTime"]


@EVERY_TARGET
def test_an_expression_reads_only_metrics_that_exist_by_labels_that_they_have(target: Target):
    shown, records = exposed(), recorded()
    for name, matchers in selectors(target.expression):
        assert name in shown or name in records or name in OF_PROMETHEUS, name
        if name in shown:
            assert set(matchers) <= shown[name], name
        if name in records:
            assert "instance" not in matchers, f"{name} is a sum over instances"


@EVERY_TARGET
def test_series_are_summed_by_labels_that_they_have(target: Target):
    read = [name for name, _ in selectors(target.expression)]
    if set(read) <= set(exposed()):
        had = set().union(*(exposed()[name] for name in read))
        for labels in re.findall(r"by \(([^)]*)\)", target.expression):
            assert set(labels.split(", ")) <= had, labels


@pytest.mark.parametrize(
    ("check", "expression"),
    [
        (test_an_expression_reads_only_metrics_that_exist_by_labels_that_they_have, expression)
        for expression in (
            'sum(agent_monitor_turn_total{job=~"$job"})',
            'sum(agent_monitor_turns_total{job=~"$job",reason="x"})',
            'release:agent_monitor_turns:rate5m{job=~"$job",instance=~"$instance"}',
        )
    ]
    + [
        (
            test_series_are_summed_by_labels_that_they_have,
            "sum by (who) (agent_monitor_turns_total)",
        ),
    ],
)
def test_the_checks_find_what_they_are_for(check, expression):
    with pytest.raises(AssertionError):
        check(Target("page", "panel", "A", expression, False, "x"))


def test_what_is_no_promql_is_found():
    with pytest.raises(ValueError, match="parenthesis"):
        list(selectors('sum(agent_monitor_turns_total{job=~"$job"}'))


def test_every_metric_is_on_a_page_itself_or_by_a_rule_or_a_part_of_it():
    read = {name for target in TARGETS for name, _ in selectors(target.expression)}
    for rule in rules():
        read |= {name for name, _ in selectors(rule["expr"])}
    unread = {name for name in exposed() if name not in read}
    assert unread == {
        "agent_monitor_scoring_lag_seconds_count",
        "agent_monitor_scoring_lag_seconds_sum",
        "agent_monitor_task_conversations_total",
    }


@EVERY_TARGET
def test_every_metric_is_matched_by_the_pages_job_and_instance(target: Target):
    for name, _ in selectors(target.expression):
        for written in written_matchers(target.expression, name):
            assert 'job=~"$job' in written, name
            if name not in recorded() and name != "ALERTS":
                assert 'instance=~"$instance"' in written, name
            if "release" in exposed().get(name, ()):
                assert 'release=~"$release"' in written, name


@EVERY_TARGET
def test_rates_are_taken_over_windows_that_the_page_chooses(target: Target):
    assert set(re.findall(r"\[(.+?)\]", target.expression)) <= WINDOWS
    assert ("$__range" in target.expression) <= target.instant


@EVERY_TARGET
def test_every_series_has_a_name_that_its_labels_allow(target: Target):
    kept = set(re.findall(r"\{\{(\w+)\}\}", target.legend))
    for name in kept:
        assert re.search(rf"by \([^)]*\b{name}\b|\"{name}\", \"", target.expression), name


@pytest.mark.parametrize(("page", "panel"), PANELS, ids=lambda one: str(one)[:40])
def test_a_panel_has_title_description_unit_and_an_empty_state_that_says_why(page, panel):
    defaults = panel["fieldConfig"]["defaults"]
    assert panel["title"][0].isupper()
    assert len(panel["description"]) > 10
    assert panel["description"].endswith(".")
    assert defaults["unit"] in UNITS
    assert defaults["noValue"].endswith((".", "settings."))
    assert defaults["noValue"] != "No data."
    for target in [panel, *panel["targets"]]:
        assert target["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


@pytest.mark.parametrize("page", FOUND.values(), ids=FOUND)
def test_panels_have_ids_titles_and_places_of_their_own(page):
    shown = page["panels"]
    assert [panel["id"] for panel in shown] == list(range(1, len(shown) + 1))
    titles = [panel["title"] for panel in shown]
    assert len(titles) == len(set(titles))
    for one, other in combinations((panel["gridPos"] for panel in shown), 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        above = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or above, (one, other)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in shown)


@pytest.mark.parametrize("page", FOUND.values(), ids=FOUND)
def test_a_page_chooses_source_job_instance_and_release(page):
    variables = {each["name"]: each for each in page["templating"]["list"]}
    assert [name for name in variables if name != "baseline"] == VARIABLES
    assert (variables["datasource"]["type"], variables["datasource"]["query"]) == (
        "datasource",
        "prometheus",
    )
    shown = exposed()
    for name, variable in variables.items():
        if variable["type"] != "query":
            continue
        assert variable["datasource"]["uid"] == "${datasource}"
        assert (variable["multi"], variable["includeAll"], variable["allValue"]) == (
            True,
            True,
            ".+",
        )
        metric, label = re.fullmatch(
            r"label_values\((\w+)(?:\{.*\})?, (\w+)\)", variable["query"]["query"]
        ).groups()
        assert label in shown[metric]
        assert label == {"baseline": "baseline_release"}.get(name, name)


@pytest.mark.parametrize("page", FOUND.values(), ids=FOUND)
def test_swaps_upgrades_and_alerts_are_marked_on_every_page(page):
    swaps, upgrades, alerts = page["annotations"]["list"]
    assert swaps["useValueForTime"]
    ((name, _),) = selectors(swaps["expr"])
    assert name == catalogue.FIRST_SEEN.name
    ((name, _),) = selectors(upgrades["expr"])
    assert name == f"{catalogue.EVENTS.name}_total"
    assert "evaluator_replaced" in catalogue.EVENTS_KNOWN
    ((name, _),) = selectors(alerts["expr"])
    assert name == "ALERTS"
    for mark in (swaps, upgrades, alerts):
        assert mark["datasource"]["uid"] == "${datasource}"
        assert mark["enable"]


def test_failures_lead_to_traces():
    leading = {
        target["expr"]
        for _, panel in PANELS
        for target in panel["targets"]
        if target.get("exemplar")
    }
    assert leading
    assert all(catalogue.FAILURES.name in expression for expression in leading)


@pytest.mark.parametrize(
    "matchers",
    ["", '{job=~"$job"}', '{job=~"$job",instance=~"$instance"}'],
    ids=["none", "job", "no release"],
)
def test_a_missing_matcher_is_found(matchers):
    with pytest.raises(AssertionError):
        test_every_metric_is_matched_by_the_pages_job_and_instance(
            Target("page", "panel", "A", f"sum(agent_monitor_turns_total{matchers})", False, "x")
        )
