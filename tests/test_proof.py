"""A short form of the proof: a fleet under kill -9 ends with what one process counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from kafka import TopicPartition
from kafka_broker import Broker
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from proof_fleet import held
from proof_scrapes import Scrapes, counters
from proof_traffic import OPEN, Traffic

from monitor.roles.kafka.worker import Stand
from monitor.roles.kafka.worker_metrics import WorkerMetrics

SHORT = ["--conversations", "120", "--kills", "6", "--pace", "2", "--rolls", "1"]
"""The seed is another one each time, and printed with what it brought out."""
LIMIT_S = 600
PAGE = """# HELP turns_total Turns.
# TYPE turns_total counter
turns_total{verdict="pass"} 3
# TYPE open gauge
open 4
# TYPE latency histogram
latency_bucket{le="+Inf"} 2
latency_count 2
"""


def test_killed_and_rolled_workers_end_with_the_totals_of_one_process(
    broker: Broker, project: Path, tmp_path: Path
):
    """In a process of its own: clients of a broker that goes away leave sockets behind."""
    done = subprocess.run(
        [sys.executable, project / "tests" / "proof.py", *SHORT, "--keep", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-5_000:]
    assert done.stdout.endswith("the proof holds\n")


def test_the_traffic_is_interleaved_cut_and_follows_from_its_seed():
    traffic, same = Traffic(80, 6, 7), Traffic(80, 6, 7)
    assert traffic.records == same.records
    assert sum(record.poison for record in traffic.records) == 6
    keys = [record.key for record in traffic.records if not record.poison]
    assert len(keys) == len(traffic.requests)
    first, last = keys.index(keys[0]), len(keys) - 1 - keys[::-1].index(keys[0])
    assert last - first > 1
    spans = [
        span["spanId"]
        for request in traffic.requests
        for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]
    ]
    assert len(set(spans)) < len(spans) < 1.2 * len(set(spans))
    assert OPEN < 80


def test_counters_are_told_from_gauges():
    assert counters(PAGE) == [
        ('turns_total{verdict="pass"}', 3.0),
        ('latency_bucket{le="+Inf"}', 2.0),
        ("latency_count", 2.0),
    ]


def test_a_counter_that_falls_or_goes_is_found():
    scrapes = Scrapes()
    scrapes.add(1, PAGE)
    scrapes.add(1, PAGE.replace("open 4", "open 1"))
    assert scrapes.falls == []
    scrapes.add(2, PAGE.replace("} 3", "} 2"))
    assert scrapes.falls == ['turns_total{verdict="pass"}: 3.0 to 2.0']
    scrapes.add(2, PAGE.replace("latency_count 2\n", ""))
    assert scrapes.falls[1:] == ["latency_count: gone"]


def test_what_begins_anew_with_the_process_may_fall_only_with_it():
    faults = "# TYPE agent_monitor_faults_total counter\nagent_monitor_faults_total 2\n"
    scrapes = Scrapes()
    for process, value in ((1, "2"), (2, "0"), (2, "0")):
        scrapes.add(process, faults.replace("total 2", f"total {value}"))
    assert scrapes.falls == []
    scrapes.add(2, faults)
    scrapes.add(2, faults.replace("total 2", "total 1"))
    assert len(scrapes.falls) == 1


def test_what_a_worker_holds_is_read_from_its_page():
    registry = CollectorRegistry(auto_describe=False)
    stand = Stand("p.traces", 3, 1, 0, None, 0.0, 0)
    worker: Any = SimpleNamespace(stands=lambda: [stand])
    registry.register(WorkerMetrics(worker, dict))
    assert held(generate_latest(registry).decode()) == [TopicPartition("p.traces", 3)]
