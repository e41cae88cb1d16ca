"""The benchmark of alerts: its figures, and a short run of it."""

from __future__ import annotations

import pytest

from monitor import wiring
from monitor.errors import ConfigurationError, MonitorError
from monitor.roles.bench.alerts.daemons import Daemon, Webhook
from monitor.roles.bench.alerts.latency import _spread, measure


def test_one_in_a_hundred_is_beyond_the_p99():
    times = [number / 100 for number in range(1, 201)]
    assert _spread(times) == {"n": 200, "min": 0.01, "median": 1.005, "p99": 1.98, "max": 2.0}


def test_the_p99_of_a_few_is_their_worst():
    assert _spread([0.3, 0.1])["p99"] == 0.3


def test_a_page_is_timed_both_ways(tmp_path, require_tool):
    for tool in ("prometheus", "prometheus-alertmanager"):
        require_tool(tool)
    figures = measure(wiring.service, tmp_path, 1, 0.05, lambda _: None)
    times = figures["closed_to_webhook_seconds"]
    assert times["direct"]["n"] == times["rules"]["n"] == 1
    assert min(times["direct"]["min"], times["rules"]["min"]) > 0


def test_a_tool_that_is_missing_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="no-such-tool is not installed"):
        Daemon("no-such-tool", (), tmp_path)


def test_a_tool_that_ends_at_once_tells_why(tmp_path, require_tool):
    require_tool("prometheus")
    with pytest.raises(MonitorError, match="did not get ready"):
        Daemon("prometheus", ("--config.file=missing.yaml",), tmp_path)


def test_a_notification_that_never_comes_is_not_waited_for_for_ever():
    with Webhook() as webhook, pytest.raises(MonitorError, match=r"within 0\.01 s"):
        webhook.wait(lambda _: True, 0.01)
