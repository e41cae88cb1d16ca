"""`agent-monitor compare`: what changed between releases, and how sure that is."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from monitor.commands.options import DONE, Commands, command, settings_of
from monitor.errors import InvalidInput
from monitor.releases.comparison import THRESHOLD
from monitor.roles.comparing import compare, metric_names, text


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(commands, "compare", "Compare releases that a ledger holds.")
    parser.add_argument("baseline", help="release as /metrics names it")
    parser.add_argument("current", nargs="+")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="else that of the settings")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    parser.add_argument(
        "--threshold",
        default=str(THRESHOLD),
        metavar="PERCENT",
        help="change of a mean that counts (default %(default)s)",
    )
    parser.add_argument(
        "--metric-threshold",
        action="append",
        default=[],
        metavar="NAME=PERCENT",
        help=f"for one of {', '.join(metric_names())}",
    )
    parser.add_argument("--json", action="store_true", help="one line of JSON per comparison")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    own = dict(_own_threshold(given) for given in arguments.metric_threshold)
    found = compare(
        settings_of(arguments).ledger.path,
        arguments.baseline,
        arguments.current,
        _percent(arguments.threshold, "--threshold"),
        own,
    )
    for comparison in found:
        if arguments.json:
            sys.stdout.write(msgspec.json.encode(comparison).decode() + "\n")
        else:
            print(*text(comparison), sep="\n")
    return DONE


def _own_threshold(given: str) -> tuple[str, float]:
    name, _, percent = given.partition("=")
    if name not in metric_names():
        known = ", ".join(metric_names())
        raise InvalidInput(f"--metric-threshold {given}: no such metric; there are {known}")
    return name, _percent(percent, f"--metric-threshold {name}")


def _percent(given: str, where: str) -> float:
    try:
        percent = float(given)
    except ValueError:
        percent = -1.0
    if not 0.0 <= percent <= 1000.0:
        raise InvalidInput(f"{where}: want a percentage, 0 or more, and not {given!r}")
    return percent
