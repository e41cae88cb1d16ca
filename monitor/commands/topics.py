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
    parser.add_argument(
        "--flush",
        type=float,
        metavar="SECONDS",
        help="close and report everything that is open, once the workers are through; wait so long",
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    # Heavy, and of an extra: only the commands of the roles apart need it.
    from monitor.roles.kafka import topics
    from monitor.roles.kafka.flushing import flush
    from monitor.roles.kafka.serving import quieten

    quieten()
    given = settings_of(arguments).kafka
    if arguments.flush is not None:
        flush(given, arguments.flush)
        return DONE
    for line in topics.ensure(given, create=not arguments.check):
        print(line)
    return DONE
