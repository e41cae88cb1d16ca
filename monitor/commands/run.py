"""`agent-monitor run`: the sidecar."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from monitor import wiring
from monitor.commands.options import (
    DONE,
    Commands,
    add_evaluation,
    command,
    say,
    settings_of,
)
from monitor.roles import service


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(commands, "run", "Receive traces over OTLP/HTTP, score them, serve metrics.")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    parser.add_argument("--otlp", metavar="HOST:PORT", help="where to receive OTLP/HTTP")
    parser.add_argument(
        "--metrics", dest="metrics_listen", metavar="HOST:PORT", help="where to serve /metrics"
    )
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="the SQLite file")
    parser.add_argument(
        "--reports", type=Path, metavar="FILE", help="append closed reports as JSON lines"
    )
    parser.add_argument(
        "--flush-on-exit",
        action="store_true",
        help="close and report open conversations when stopped, instead of keeping them open",
    )
    add_evaluation(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    settings = settings_of(arguments)
    running = wiring.service(settings)
    asyncio.run(service.serve(running, say, flush=arguments.flush_on_exit))
    return DONE
