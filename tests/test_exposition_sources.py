"""What the metrics page says of polled sources and of redaction."""

from __future__ import annotations

from exposed_shop import shop

from monitor.exposition.collector import Collector
from monitor.exposition.live import Live


def test_a_polled_source_shows_whether_it_can_be_read_and_redactions_their_kind() -> None:
    totals, _ = shop()
    live = Live(
        source_faults={"langfuse/poll": "answered 401", "langfuse/blob": None},
        counts={"redacted:email": 3},
    )
    page = Collector(lambda: totals, lambda: live).render("")[0].decode().splitlines()
    assert 'agent_monitor_source_up{source="langfuse/poll"} 0.0' in page
    assert 'agent_monitor_source_up{source="langfuse/blob"} 1.0' in page
    assert 'agent_monitor_redactions_total{kind="email"} 3.0' in page
    assert 'agent_monitor_redactions_total{kind="card"} 0.0' in page
