"""`agent-monitor bench`: what a span costs."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from monitor import chosen, wiring
from monitor.commands.options import (
    DONE,
    Commands,
    command,
)
from monitor.config import Settings
from monitor.roles import bench


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(commands, "bench", "Measure what a span costs, from the wire to the ledger.")
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    parser.add_argument("--quick", action="store_true", help="fewer spans, no memory figure")
    parser.add_argument("--folder", type=Path, help="where the benchmark's ledger is written")
    parser.add_argument("--memory-only", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.memory_only:
        print(json.dumps(_bench_memory()))
        return DONE
    conversations, rounds = (20, 3) if arguments.quick else (200, 5)
    settings = Settings()
    redaction = chosen.shown_redaction(settings)
    with tempfile.TemporaryDirectory(prefix="agent-monitor-bench-", dir=arguments.folder) as name:
        figures = bench.measure(
            wiring.trace_decoder(settings),
            redaction.spans if redaction else list,
            lambda path: wiring.engine(settings, path, durable=True).engine,
            Path(name),
            conversations,
            rounds,
            lambda text: print(text, file=sys.stderr),
        )
    if not arguments.quick:
        figures["memory"] = _in_own_process()
    print(json.dumps(figures) if arguments.json else json.dumps(figures, indent=2))
    return DONE


def _bench_memory() -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="agent-monitor-bench-") as name:
        settings = Settings()
        parts = wiring.engine(settings, Path(name) / "memory.sqlite3", durable=True)
        return bench.resident_bytes(wiring.trace_decoder(settings), parts.engine)


def _in_own_process() -> dict[str, object]:
    """Peak memory is a process's property, so the measurement gets one of its own."""
    words = [sys.executable, "-m", "monitor.cli", "bench", "--memory-only"]
    done = subprocess.run(words, capture_output=True, check=True, text=True)  # noqa: S603  ourselves
    figures: dict[str, object] = json.loads(done.stdout)
    return figures
