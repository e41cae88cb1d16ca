"""`agent-monitor backfill`: a past time range of Langfuse."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from monitor import wiring
from monitor.commands.options import (
    DONE,
    REFUSED,
    Commands,
    add_evaluation,
    command,
    settings_of,
)
from monitor.roles.past import moment


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(commands, "backfill", "Read a past time range of Langfuse into the ledger.")
    parser.add_argument("--from", dest="start", required=True, metavar="TIME", help="ISO 8601")
    parser.add_argument("--to", dest="end", required=True, metavar="TIME", help="ISO 8601")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="the SQLite file")
    parser.add_argument(
        "--reports", type=Path, metavar="FILE", help="append closed reports as JSON lines"
    )
    add_evaluation(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    settings = settings_of(arguments)
    start, end = moment(arguments.start), moment(arguments.end)
    summary = asyncio.run(wiring.backfill(settings, start, end))
    print(summary.text())
    return REFUSED if summary.refused_spans else DONE
