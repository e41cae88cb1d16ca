"""`agent-monitor inspect`: what is understood of recorded traces."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from monitor import wiring
from monitor.commands.options import (
    DONE,
    REFUSED,
    Commands,
    add_evaluation,
    add_format,
    command,
    say,
    settings_of,
)
from monitor.roles.inspecting.inspection import Seen
from monitor.roles.inspecting.text import lines_of


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(
        commands, "inspect", "Show what is understood of recorded traces and what is not."
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE[.gz]")
    parser.add_argument("--json", action="store_true", help="one JSON object, for machines")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    add_format(parser)
    add_evaluation(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    settings = settings_of(arguments)
    seen = wiring.inspected(settings, arguments.files, arguments.format, arguments.mapping)
    if arguments.json:
        print(msgspec.json.encode(seen).decode())
    else:
        for line in lines_of(seen):
            print(line)
    if not seen.conversations:
        say(_nothing(seen, arguments.format))
    return REFUSED if seen.refused else DONE


def _nothing(seen: Seen, name: str | None) -> str:
    """Why there is no conversation to show."""
    if seen.counts.get("accepted"):
        return "spans were read, and none of them is an agent's work or a call of a model or tool"
    if name is not None:
        return f"nothing was read as {name}"
    return "nothing was read as OTLP; --format NAME reads what a framework wrote itself"
