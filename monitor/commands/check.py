"""`agent-monitor check`: a configuration and every file that it names."""

from __future__ import annotations

import argparse
from pathlib import Path

from monitor import wiring
from monitor.commands.options import (
    DONE,
    Commands,
    command,
)
from monitor.config import load


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(commands, "check", "Check a configuration and every file that it names.")
    parser.add_argument("config", type=Path, metavar="CONFIG")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    settings = load(arguments.config)
    for line in wiring.checked(settings):
        print(line)
    return DONE
