"""`agent-monitor calibrate`: the comparison of texts fitted to a team's own labelled pairs."""

from __future__ import annotations

import argparse
from pathlib import Path

from monitor.commands.options import DONE, Commands, command, say, settings_of
from monitor.comparison.calibration import Band
from monitor.errors import ConfigurationError
from monitor.roles.calibrating.calibrate import Wanted
from monitor.wiring.calibrating import calibrated

KINDS = ("fields", "answers")


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(
        commands, "calibrate", "Fit the comparison of texts to labelled pairs, and measure it."
    )
    parser.add_argument(
        "pairs",
        type=Path,
        metavar="PAIRS.tsv[.gz]",
        help="columns gold, pred, label (1 the same, 0 not) and field or question; group and "
        "source where known",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write what `[comparison] calibration` reads"
    )
    parser.add_argument(
        "--target",
        type=float,
        default=0.95,
        metavar="SHARE",
        help="how often decided pairs are to be right (0.95)",
    )
    parser.add_argument(
        "--band",
        nargs=3,
        action="append",
        default=[],
        metavar=("KIND", "LOW", "HIGH"),
        help="set the unsure band of `fields` or `answers` instead of fitting it",
    )
    parser.add_argument(
        "--refit", action="store_true", help="fit the model anew, and not only its scale"
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if not 0.5 <= arguments.target <= 1:
        raise ConfigurationError("--target is a share between 0.5 and 1")
    wanted = Wanted(arguments.target, arguments.refit, dict(map(_band, arguments.band)))
    content, lines = calibrated(settings_of(arguments), arguments.pairs, wanted)
    for line in lines:
        print(line)
    if arguments.out is not None:
        try:
            arguments.out.write_bytes(content)
        except OSError as error:
            raise ConfigurationError(f"{arguments.out} cannot be written: {error}") from error
        say(f"wrote {arguments.out}; name it as `calibration` in [comparison]")
    return DONE


def _band(words: list[str]) -> tuple[str, Band]:
    kind, *edges = words
    try:
        low, high = map(float, edges)
    except ValueError:
        low, high = 1.0, 0.0
    if kind not in KINDS or not 0 <= low <= 0.5 <= high <= 1:
        raise ConfigurationError("--band wants `fields` or `answers`, and two numbers around 0.5")
    return kind, Band(low, high)
