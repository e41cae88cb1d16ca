"""Every panel asked of a real Prometheus: after seeded traffic, and before anything was sent."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from asked_panels import Range, answer, pages, panels, targets
from draw_pages import document, marks, pages_sent
from prometheus_server import Prometheus
from rules_shipped import rules
from seeded_prometheus import fresh_server, seeded_server
from seeded_traffic import AFTER_COUNT, BEFORE_COUNT, EVERY_S, START_S

from monitor.roles.demo.traffic import AFTER, BEFORE

FOUND = pages(Path(__file__).resolve().parents[1] / "grafana")
TARGETS = list(targets(FOUND))
Asked = tuple[Prometheus, Range]
OLD, NEW = (f"{release.version}@{release.model}" for release in (BEFORE, AFTER))


@pytest.fixture(scope="module")
def seeded(tmp_path_factory, require_tool) -> Iterator[Asked]:
    for tool in ("prometheus", "promtool"):
        require_tool(tool)
    with seeded_server(tmp_path_factory.mktemp("seeded")) as found:
        yield found


@pytest.fixture(scope="module")
def fresh(tmp_path_factory, require_tool) -> Iterator[Asked]:
    for tool in ("prometheus", "promtool"):
        require_tool(tool)
    with fresh_server(tmp_path_factory.mktemp("fresh")) as found:
        yield found


def values(asked: Asked) -> dict[str, list[float]]:
    """All numbers that each expression gives."""
    server, time = asked
    return {
        str(target): [
            float(value) for series in answer(server, target, time) for _, value in series["values"]
        ]
        for target in TARGETS
    }


def test_no_panel_is_empty_or_not_a_number_after_seeded_traffic(seeded):
    found = values(seeded)
    assert [name for name, numbers in found.items() if not numbers] == []
    assert [name for name, numbers in found.items() if not all(map(math.isfinite, numbers))] == []


def test_before_any_traffic_every_panel_shows_zero_or_says_what_is_missing(fresh):
    found = values(fresh)
    assert [name for name, numbers in found.items() if not all(map(math.isfinite, numbers))] == []
    told = {
        f"{name}: {panel['title']} {target['refId']}": panel["fieldConfig"]["defaults"]["noValue"]
        for name, page in FOUND.items()
        for panel in panels(page)
        for target in panel["targets"]
    }
    missing = {
        told[name].split(":")[0].split(";")[0] for name, numbers in found.items() if not numbers
    }
    assert missing <= {
        "Not enough data",
        "No turn was seen in this time.",
        "No judge is configured",
        "No judge is configured, or no bound in money.",
        "No release was seen yet.",
        "No release has a baseline yet",
        "No conversation closed in this time.",
        "No reason stands out in any comparison.",
        "Nothing failed in this time.",
        "No failure within the window.",
        "No encoder is configured, or nothing was looked up within the window.",
    }


def test_the_pages_tell_the_release_that_broke_arguments(seeded):
    server, time = seeded
    asked = {str(target): target for target in TARGETS}

    def told(name: str) -> dict[str, float]:
        found = answer(server, asked[name], time)
        return {each["metric"].get("release", ""): float(each["values"][-1][1]) for each in found}

    assert told("overview: Evidence of a regression A")[NEW] > 2.3
    assert told("compare: Drop in correct turns A")[NEW] > 0.05
    assert told("compare: Turns still needed A") == {NEW: 0.0}
    correct = told("overview: Correct turns A")
    assert correct[OLD] > 0.95 > 0.9 > correct[NEW]
    first = answer(server, asked["reasons: Root causes in this time A"], time)[0]
    assert first["metric"] == {"reason": "inconsistent_parameter_values"}
    assert told("health: Spans not accounted for A") == {"": 0.0}


def test_every_record_of_the_rules_has_values(seeded):
    server, time = seeded
    for rule in rules():
        if "record" in rule:
            found = server.instant(rule["record"], time.end_s)
            assert found, rule["record"]
            assert all(math.isfinite(float(each["value"][1])) for each in found), rule["record"]


def test_the_alerts_about_the_broken_release_would_fire_and_no_others(seeded, fresh):
    def firing(asked: Asked) -> dict[str, set[str]]:
        server, time = asked
        return {
            rule["alert"]: {each["metric"].get("release", "") for each in found}
            for rule in rules()
            if "alert" in rule and (found := server.instant(rule["expr"], time.end_s))
        }

    assert firing(seeded) == {
        "AgentCorrectnessRegression": {NEW},
        "AgentFailureReasonShift": {NEW},
        "AgentJudgeDisagreesWithHumans": {""},
        # The seeded judge says by chance what it says, and so it does of canaries and controls.
        "AgentJudgeAbstaining": {""},
        "AgentJudgeUnsound": {""},
    }
    assert firing(fresh) == {}


def test_a_page_is_marked_after_the_swap_and_counted_as_firing(seeded):
    server, time = seeded
    ((at_s, alert),) = pages_sent(server, FOUND["overview"], time)
    assert alert == "AgentCorrectnessRegression"
    assert START_S + BEFORE_COUNT * EVERY_S < at_s < time.end_s
    asked = {str(target): target for target in TARGETS}
    (firing,) = answer(server, asked["overview: Alerts firing A"], time)
    assert float(firing["values"][0][1]) >= 1


def test_swaps_are_marked_where_the_first_conversation_of_a_release_began(seeded):
    server, time = seeded
    expected = [(START_S, OLD), (START_S + BEFORE_COUNT * EVERY_S, NEW)]
    assert sorted(marks(server, FOUND["overview"], time)) == expected
    assert time.end_s > START_S + (BEFORE_COUNT + AFTER_COUNT) * EVERY_S


@pytest.mark.parametrize("name", FOUND)
def test_a_page_can_be_drawn(seeded, fresh, name):
    whole, height = document(seeded[0], name, FOUND[name], seeded[1])
    shown = list(panels(FOUND[name]))
    assert whole.count('<div class="panel"') == len(shown)
    assert whole.count('<div class="empty">') == 0
    assert height > 500
    early, _ = document(fresh[0], name, FOUND[name], fresh[1])
    assert 0 < early.count('<div class="empty">') < len(shown)
