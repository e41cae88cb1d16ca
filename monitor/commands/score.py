"""`agent-monitor score`: dialogs that carry expected and actual turns."""

from __future__ import annotations

import argparse
from pathlib import Path

from monitor import chosen
from monitor.commands.options import (
    DONE,
    REFUSED,
    Commands,
    add_tools,
    command,
    settings_of,
)
from monitor.roles import batch
from monitor.roles.files import distinct


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(commands, "score", "Score dialogs that carry expected and actual turns.")
    parser.add_argument("dialogs", nargs="+", type=Path, metavar="DIALOGS.jsonl[.gz]")
    parser.add_argument("--out", required=True, type=Path, metavar="REPORTS.jsonl[.gz]")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    add_tools(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    settings = settings_of(arguments)
    distinct(inputs=arguments.dialogs, outputs=[arguments.out])
    evaluate = chosen.dialog_evaluation(settings)
    summary = batch.score(arguments.dialogs, evaluate, arguments.out, progress=True)
    print(summary.text())
    return REFUSED if summary.refused_lines else DONE
