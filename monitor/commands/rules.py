"""`agent-monitor rules`: the Prometheus rules for an objective."""

from __future__ import annotations

import argparse
from pathlib import Path

from monitor.alerting.alerts import Policy, rule_files
from monitor.commands.options import DONE, Commands, command
from monitor.errors import ConfigurationError


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(commands, "rules", "Write recording and alert rules for Prometheus.")
    default = Policy()
    parser.add_argument("folder", type=Path, metavar="DIR", help="where the files are written")
    parser.add_argument(
        "--objective",
        type=float,
        default=default.objective,
        metavar="SHARE",
        help="share of turns that should be correct, such as 0.95",
    )
    parser.add_argument("--job", default=default.job, help="the scrape job of the monitors")
    parser.add_argument(
        "--runbook", default=default.runbook, metavar="URL", help="where the runbook can be read"
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    policy = Policy(arguments.objective, arguments.job, arguments.runbook)
    try:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        for name, text in rule_files(policy).items():
            (arguments.folder / name).write_text(text, encoding="utf-8")
            print(arguments.folder / name)
    except OSError as error:
        raise ConfigurationError(f"{arguments.folder}: cannot write: {error.strerror}") from None
    return DONE
