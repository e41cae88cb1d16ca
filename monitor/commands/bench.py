"""`agent-monitor bench`: what the monitor costs on this machine."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from monitor import chosen, wiring
from monitor.commands.options import (
    DONE,
    Commands,
    command,
)
from monitor.config import Settings
from monitor.roles.bench import conventions, estimates, ingest
from monitor.roles.bench.alerts import latency
from monitor.roles.bench.detectors import acceptance
from monitor.roles.bench.detectors.cost import cost
from monitor.roles.bench.detectors.table import table
from monitor.wiring.bench_scoring import scoring_figures
from monitor.wiring.comparing import watching_of


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(commands, "bench", "Measure what the monitor costs on this machine.")
    parser.add_argument(
        "part",
        nargs="?",
        choices=PARTS,
        default="ingest",
        help="ingest: a span from the wire to the ledger (the default); scoring: turns a second; "
        "detectors: false alarms and delays, simulated; estimates: what judging a sample is worth; "
        "alerts: from a closed conversation to the webhook, needs Prometheus and Alertmanager",
    )
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    parser.add_argument("--quick", action="store_true", help="fewer spans, no memory figure")
    parser.add_argument("--folder", type=Path, help="where the benchmark's ledger is written")
    parser.add_argument(
        "--set", type=Path, metavar="DIR", help="scoring: a labelled set instead of the demo's shop"
    )
    parser.add_argument(
        "--peers",
        type=Path,
        metavar="FOLDER",
        help="scoring: other libraries beside it; their scripts are in tests/peers",
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="detectors, estimates: of the simulation"
    )
    parser.add_argument("--memory-only", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.memory_only:
        print(json.dumps(_bench_memory()))
        return DONE
    figures = PARTS[arguments.part](arguments)
    print(json.dumps(figures) if arguments.json else json.dumps(figures, indent=2))
    return DONE


def _scoring(arguments: argparse.Namespace) -> dict[str, Any]:
    return scoring_figures(arguments.set, arguments.peers, quick=arguments.quick, tell=_tell)


def _ingest(arguments: argparse.Namespace) -> dict[str, Any]:
    conversations, rounds = (20, 3) if arguments.quick else (200, 5)
    # First: a child's peak begins with what its parent has held.
    memory = None if arguments.quick else _in_own_process()
    settings = Settings()
    redaction = chosen.shown_redaction(settings)
    with tempfile.TemporaryDirectory(prefix="agent-monitor-bench-", dir=arguments.folder) as name:
        figures = ingest.measure(
            wiring.trace_decoder(settings),
            redaction.spans if redaction else list,
            lambda path: wiring.engine(settings, path, durable=True).engine,
            Path(name),
            conversations,
            rounds,
            _tell,
        )
    rates = conventions.rates(wiring.trace_decoder(settings), 10, rounds, _tell)
    print(*conventions.table(rates), sep="\n", file=sys.stderr)
    figures["conventions"] = rates
    if memory is not None:
        figures["memory"] = memory
    return figures


def _alerts(arguments: argparse.Namespace) -> dict[str, Any]:
    events = 10 if arguments.quick else 200
    with tempfile.TemporaryDirectory(prefix="agent-monitor-bench-", dir=arguments.folder) as name:
        return latency.measure(wiring.service, Path(name), events, 0.05, _tell)


def _tell(text: str) -> None:
    print(text, file=sys.stderr)


def _bench_memory() -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="agent-monitor-bench-") as name:
        settings = Settings()
        parts = wiring.engine(settings, Path(name) / "memory.sqlite3", durable=True)
        return ingest.resident_bytes(wiring.trace_decoder(settings), parts.engine)


def _in_own_process() -> dict[str, object]:
    """Peak memory is a process's property, so the measurement gets one of its own."""
    words = [sys.executable, "-m", "monitor.cli", "bench", "--memory-only"]
    done = subprocess.run(words, capture_output=True, check=True, text=True)  # noqa: S603  ourselves
    figures: dict[str, object] = json.loads(done.stdout)
    return figures


def _detectors(arguments: argparse.Namespace) -> dict[str, Any]:
    effort = acceptance.QUICK if arguments.quick else acceptance.Effort()
    figures = acceptance.acceptance(arguments.seed, effort, _tell)
    with tempfile.TemporaryDirectory(prefix="agent-monitor-bench-", dir=arguments.folder) as name:
        figures["cost"] = cost(lambda: watching_of(Settings(), None), Path(name))
    print(*table(figures), sep="\n", file=sys.stderr)
    return figures


def _estimates(arguments: argparse.Namespace) -> dict[str, Any]:
    runs, watched = (200, 40) if arguments.quick else (1_500, 300)
    figures = estimates.figures(runs, watched, arguments.seed)
    print(*estimates.table(figures), sep="\n", file=sys.stderr)
    return figures


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "ingest": _ingest,
    "scoring": _scoring,
    "detectors": _detectors,
    "estimates": _estimates,
    "alerts": _alerts,
}
"""What can be measured, each alone."""
