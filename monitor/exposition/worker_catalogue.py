"""The metrics of one worker of the roles apart; totals and verdicts are the export's to show."""

from __future__ import annotations

from typing import Final

from monitor.exposition.catalogue import PREFIX, Metric

_PLACE: Final = ("topic", "partition")

RECORDS: Final = Metric(
    f"{PREFIX}worker_records",
    "counter",
    "Records that this worker has worked on since it was given the partition.",
    _PLACE,
)
WAITING: Final = Metric(
    f"{PREFIX}worker_waiting_records",
    "gauge",
    "Records that this worker holds and has not worked on.",
    _PLACE,
)
LAG: Final = Metric(
    f"{PREFIX}worker_lag_records",
    "gauge",
    "Records of the partition behind the last that is done, as far as this worker knows.",
    _PLACE,
)
BUSY: Final = Metric(
    f"{PREFIX}worker_busy_seconds",
    "counter",
    "CPU time of the partition's own step, without delivery and sending.",
    _PLACE,
    unit="seconds",
)
SET_ASIDE: Final = Metric(
    f"{PREFIX}worker_dead_letters",
    "counter",
    "Records that this worker has set aside since it was given the partition.",
    _PLACE,
)
CPU: Final = Metric(
    f"{PREFIX}worker_cpu_seconds", "counter", "CPU time of the process.", unit="seconds"
)
EVERY: Final = (RECORDS, WAITING, LAG, BUSY, SET_ASIDE, CPU)
