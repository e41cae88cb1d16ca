"""Traces beside the counter of failures: from a broken conversation to Prometheus."""

from __future__ import annotations

import json
from typing import Any

from building_reports import inherited, passed, report, root
from exposed_shop import A, shop
from msgspec.structs import replace
from prometheus_server import Prometheus, serving
from running import Running
from waiting import until

from monitor.exposition.collector import OPENMETRICS, Collector
from monitor.exposition.exemplars import Exemplars
from monitor.roles.demo.traffic import AFTER, TOOLS, Played, traffic

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
OTHER = "00f067aa0ba902b7e1d3c1b2a4958677"
ROOT = (A, "2", "missing_parameters", "root")
INHERITED = (A, "2", "prior_action_failed", "inherited")


def failing(trace_id: str, name: str = "one"):
    turns = (
        replace(passed("1", chain="2"), trace_id="f" * 32),
        replace(root("2", "missing_parameters", chain="2"), trace_id=trace_id),
        replace(inherited("3", chain="2"), trace_id=trace_id),
    )
    return report(name, *turns, release=A, chain="2")


def shown(exemplars: Exemplars) -> dict[tuple[str, ...], tuple[str, Any]]:
    return {
        labels: (one.labels["trace_id"], one.timestamp) for labels, one in exemplars.shown().items()
    }


def test_the_newest_trace_of_each_kind_of_failure_is_kept():
    exemplars = Exemplars()
    exemplars.see(failing(OTHER), 1.0)
    exemplars.see(failing(TRACE), 2.5)
    assert shown(exemplars) == {ROOT: (TRACE, 2.5), INHERITED: (TRACE, 2.5)}


def test_an_id_that_could_tell_of_a_person_is_none():
    exemplars = Exemplars()
    for trace_id in ("jane.roe@example.com", "jane", "", "a" * 65, 'aaaaaaaa"'):
        exemplars.see(failing(trace_id), 1.0)
    assert shown(exemplars) == {}


def test_only_so_many_kinds_are_kept_and_the_oldest_goes_first():
    exemplars = Exemplars(limit=3)
    for number in range(3):
        each = replace(failing(TRACE), release=f"r{number}")
        exemplars.see(each, float(number))
    assert [labels[0] for labels in exemplars.shown()] == ["r1", "r2", "r2"]


def page(accept: str) -> str:
    exemplars = Exemplars()
    exemplars.see(replace(failing(TRACE), release=A), 1764000000.5)
    exemplars.see(replace(failing(OTHER), release="not exposed"), 1764000000.5)
    totals, live = shop()
    live = replace(live, exemplars=exemplars.shown())
    return Collector(lambda: totals, lambda: live).render(accept)[0].decode()


def test_openmetrics_shows_the_trace_beside_its_failure_and_nowhere_else():
    marked = [line for line in page(OPENMETRICS).splitlines() if " # " in line]
    assert len(marked) == 2
    assert marked[0].startswith("agent_monitor_failures_total{")
    assert 'reason="missing_parameters"' in marked[0]
    assert marked[0].endswith(f' # {{trace_id="{TRACE}"}} 1.0 1764000000.5')


def test_the_text_format_has_no_exemplars():
    assert TRACE not in page("text/plain")


def test_prometheus_keeps_the_trace_of_a_broken_conversation(tmp_path, require_tool):
    program = require_tool("prometheus")
    played = list(traffic(AFTER, 30, 12))
    references = [json.dumps(each.reference) for each in played if each.reference]
    (tmp_path / "references.jsonl").write_text("\n".join(references))
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    (tmp_path / "monitor.toml").write_text(
        "[conversation]\nsettle_s = 0.1\nidle_s = 0.2\n"
        '[references]\nby_id = ["references.jsonl"]\n[tools]\nfiles = ["tools.json"]\n'
    )
    with Running(tmp_path, "--config", str(tmp_path / "monitor.toml")) as service:
        for each in played:
            assert service.post(json.dumps(each.request).encode()) == 200
        with serving(program, tmp_path, scraping(service)) as server:
            until(lambda: kept(server) != set())
            assert kept(server) <= sent(played)


def scraping(service: Running) -> str:
    address = service.pages.removeprefix("http://")
    return (
        "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\n"
        f"scrape_configs: [{{job_name: m, static_configs: [{{targets: ['{address}']}}]}}]\n"
    )


def kept(server: Prometheus) -> set[str]:
    """The traces that a panel would offer."""
    found = server.exemplars('agent_monitor_failures_total{attribution="root"}', 0, 2**32)
    return {one["labels"]["trace_id"] for each in found for one in each["exemplars"]}


def sent(played: list[Played]) -> set[str]:
    return {
        span["traceId"]
        for each in played
        for span in each.request["resourceSpans"][0]["scopeSpans"][0]["spans"]
    }
