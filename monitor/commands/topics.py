"""`agent-monitor topics`: the topics between the roles."""

from __future__ import annotations

import argparse
from pathlib import Path

from monitor.commands.options import DONE, Commands, command, settings_of


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(commands, "topics", "Create and check the Kafka topics between the roles.")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    parser.add_argument("--check", action="store_true", help="only look, and create nothing")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    # Heavy, and of an extra: only the commands of the roles apart need it.
    from monitor.roles.kafka import topics

    for line in topics.ensure(settings_of(arguments).kafka, create=not arguments.check):
        print(line)
    return DONE
