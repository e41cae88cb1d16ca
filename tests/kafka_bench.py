"""Throughput of one process and of the roles apart, in one run: `python tests/kafka_bench.py`.

Prints one JSON object. CPU is what the kernel charged to each process; a stage's own share is what
its workers measured around it. The machine's other work is in the wall times, and not in the CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kafka_broker import Broker
from kafka_fleet import Fleet, Role
from running import Running, request

from monitor.roles.bench.traffic import payloads

CLOSING = {"settle_s": 0.5, "quiet_s": 2.0}
LOOK_S = 1.0
LIMIT_S = 600.0


def cpu_s(pid: int) -> float:
    """CPU time that a process has taken so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def awaited(reached: Callable[[], bool]) -> None:
    last = time.monotonic() + LIMIT_S
    while not reached():
        if time.monotonic() > last:
            raise AssertionError("not reached")
        time.sleep(LOOK_S)


def attached(samples: dict[str, float]) -> float:
    return samples.get('agent_monitor_spans_total{outcome="attached"}', 0.0)


def embedded(folder: Path, bodies: list[bytes], spans: int) -> dict[str, float]:
    """One process, fed over HTTP."""
    config = folder / "embedded.toml"
    config.write_text("[conversation]\nsettle_s = 0.5\nquiet_s = 2.0\n")
    with Running(folder, "--config", str(config)) as service:
        before, began = cpu_s(service.process.pid), time.monotonic()
        for body in bodies:
            while (
                request(service.otlp, "POST", "/v1/traces", body, "application/x-protobuf")[0]
                != 200
            ):
                time.sleep(LOOK_S)
        awaited(
            lambda: (
                f'spans_total{{outcome="attached"}} {spans}'
                in service.page("/metrics")[1].replace(".0\n", "\n")
            )
        )
        wall = time.monotonic() - began
        return figures(spans, wall, run=cpu_s(service.process.pid) - before)


def apart(
    broker: Broker, folder: Path, bodies: list[bytes], spans: int, workers: int
) -> dict[str, Any]:
    """Workers that find all of it waiting; until the export has it."""
    settings = {
        "conversation": CLOSING,
        "kafka": {"partitions": 12, "source_partitions": 12, "session_s": 15.0, "commit_s": 1.0},
    }
    with Fleet(broker, folder, f"bench-{workers}", settings) as fleet:
        export = fleet.export()
        fleet.feed(bodies)
        started = [fleet.start("worker") for _ in range(workers)]
        for role in started:
            role.await_words("the worker is running")
        before = [cpu_s(role.process.pid) for role in started]
        of_broker, of_export = broker.cpu_s(), cpu_s(export.process.pid)
        began = time.monotonic()
        try:
            awaited(lambda: attached(export.samples()) == spans)
        except OSError as error:
            raise AssertionError(export.log.read_text()[-2_000:]) from error
        wall = time.monotonic() - began
        found = figures(
            spans,
            wall,
            workers=sum(cpu_s(r.process.pid) - b for r, b in zip(started, before, strict=True)),
            broker=broker.cpu_s() - of_broker,
            export=cpu_s(export.process.pid) - of_export,
        )
        return {**found, "stage_us": stages(started, fleet, spans)}


def stages(workers: list[Role], fleet: Fleet, spans: int) -> dict[str, float]:
    """CPU of each stage, for a span."""
    names = {
        "decode": fleet.names.source,
        "gather": fleet.names.traces,
        "converse": fleet.names.conversations,
    }
    samples = [role.samples() for role in workers]
    return {
        stage: round(
            1e6
            / spans
            * sum(
                value
                for each in samples
                for name, value in each.items()
                if name.startswith("agent_monitor_worker_busy_seconds_total")
                and f'topic="{topic}"' in name
            ),
            1,
        )
        for stage, topic in names.items()
    }


def figures(spans: int, wall_s: float, **cpu: float) -> dict[str, Any]:
    return {
        "spans_per_s": round(spans / wall_s),
        "wall_s": round(wall_s, 1),
        "cpu_us_per_span": {name: round(1e6 * used / spans, 1) for name, used in cpu.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--conversations", type=int, default=1_000)
    parser.add_argument("--spans-per-record", type=int, default=200)
    chosen = parser.parse_args()
    bodies = payloads(chosen.conversations, chosen.spans_per_record)
    spans = chosen.conversations * 20
    build = Path(__file__).resolve().parents[1] / ".ci" / "build-broker"
    libs = subprocess.run([build], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="kafka-bench-") as place:
        folder = Path(place)
        broker = Broker(Path(libs), folder / "broker")
        broker.start()
        try:
            found: dict[str, Any] = {
                "spans": spans,
                "bytes": sum(map(len, bodies)),
                "load_average": os.getloadavg()[0],
                "embedded": embedded(folder, bodies, spans),
            }
            for workers in (1, 2):
                own = folder / str(workers)
                own.mkdir()
                found[f"workers_{workers}"] = apart(broker, own, bodies, spans, workers)
        finally:
            broker.stop()
    json.dump(found, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
