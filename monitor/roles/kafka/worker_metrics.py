"""What a worker shows of itself. Totals and verdicts are the export's to show."""

from __future__ import annotations

import resource
from collections.abc import Iterator

from monitor.roles.kafka.worker import Worker


def worker_metrics(worker: Worker) -> bytes:
    """Prometheus' text format."""
    return "".join(_lines(worker)).encode()


def _lines(worker: Worker) -> Iterator[str]:
    name = "agent_monitor_worker"
    yield f"# TYPE {name}_records_total counter\n"
    for stand in worker.stands():
        yield f"{name}_records_total{{{_labels(stand.topic, stand.partition)}}} {stand.worked}\n"
    yield f"# TYPE {name}_waiting gauge\n"
    for stand in worker.stands():
        yield f"{name}_waiting{{{_labels(stand.topic, stand.partition)}}} {stand.waiting}\n"
    yield f"# TYPE {name}_lag gauge\n"
    for stand in worker.stands():
        if stand.lag is not None:
            yield f"{name}_lag{{{_labels(stand.topic, stand.partition)}}} {stand.lag}\n"
    yield f"# TYPE {name}_busy_seconds_total counter\n"
    for lane in worker.lanes:
        labels = _labels(lane.topic, lane.partition)
        yield f"{name}_busy_seconds_total{{{labels}}} {lane.busy_s:.6f}\n"
    used = resource.getrusage(resource.RUSAGE_SELF)
    yield "# TYPE process_cpu_seconds_total counter\n"
    yield f"process_cpu_seconds_total {used.ru_utime + used.ru_stime:.3f}\n"


def _labels(topic: str, partition: int) -> str:
    return f'topic="{topic}",partition="{partition}"'
