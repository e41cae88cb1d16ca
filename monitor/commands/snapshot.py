"""`agent-monitor snapshot`: a copy of a ledger that goes on being written."""

from __future__ import annotations

import argparse
from pathlib import Path

from monitor.commands.options import DONE, Commands, command
from monitor.ledger.copying import copy_ledger


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(commands, "snapshot", "Copy a ledger's file while the service goes on.")
    parser.add_argument("ledger", type=Path, metavar="LEDGER")
    parser.add_argument("out", type=Path, metavar="COPY")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    size = copy_ledger(arguments.ledger, arguments.out)
    print(f"{arguments.out}: {size} bytes; to restore, start the service over it")
    return DONE
