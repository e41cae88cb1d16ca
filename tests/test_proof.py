"""A short form of the proof: a fleet under kill -9 ends with what one process counts."""

from __future__ import annotations

import os
import random
from pathlib import Path

from kafka_broker import Broker
from proof_run import Plan, prove
from proof_scrapes import Scrapes, counters
from proof_traffic import OPEN, Traffic

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
    broker: Broker, tmp_path: Path
):
    seed = int(os.environ.get("PROOF_SEED", random.SystemRandom().randrange(10**6)))
    plan = Plan(conversations=120, kills=6, seed=seed, pace_s=2.0, rolls=1)
    found = prove(broker.libs, tmp_path, plan, print)
    assert found.faults == [], f"PROOF_SEED={seed} {found.figures}"


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
