"""`agent-monitor evaluate`: labelled sets through the product, and how right it was."""

from __future__ import annotations

import argparse
import gc
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from monitor.agreement.measures import Figure
from monitor.commands.options import DONE, REFUSED, Commands, add_tools, command, say, settings_of
from monitor.config import Settings
from monitor.errors import ConfigurationError
from monitor.roles.labelled_sets import WAYS, LabelledSet, Measured, found_sets, measured, pooled
from monitor.wiring.labelled import set_runner


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(
        commands, "evaluate", "Run labelled conversations through the monitor and measure it."
    )
    parser.add_argument(
        "sets",
        nargs="+",
        type=Path,
        metavar="DIR",
        help="a folder with labels.jsonl beside dialogs, traces, references or tools; or one "
        "that holds such folders",
    )
    parser.add_argument(
        "--way",
        nargs="+",
        choices=WAYS,
        default=WAYS,
        help="dialogs: paired with gold by the source; references: traces that are aligned to "
        "references; traces: traces alone; unset: all that a set has the files for",
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="keep the reports here")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for machines")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    add_tools(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    settings = settings_of(arguments)
    sets = found_sets(arguments.sets)
    with _folder(arguments.out) as folder:
        parts = _measured(settings, sets, arguments.way, folder)
    if not parts:
        raise ConfigurationError("none of the sets has the files that this way needs")
    told = [*parts, *pooled(parts)]
    for text in map(_json_line, told) if arguments.json else _table(told):
        print(text)
    missing = sum(part.missing for part in parts)
    if missing:
        say(f"{missing} labelled conversations got no report")
    return REFUSED if missing else DONE


def _measured(
    settings: Settings, sets: Sequence[LabelledSet], ways: Sequence[str], folder: Path
) -> list[Measured]:
    run = set_runner(settings, folder, progress=True)
    found = []
    for each in sets:
        for way in WAYS:
            if way in ways and each.offers(way):
                found.append(measured(each, way, run))
                # Each run has an evaluator of its own, whose parts name each other.
                gc.collect()
    return found


@contextmanager
def _folder(chosen: Path | None) -> Iterator[Path]:
    if chosen is not None:
        try:
            chosen.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(f"{chosen}: cannot be made: {error.strerror}") from None
        yield chosen
        return
    with tempfile.TemporaryDirectory(prefix="agent-monitor-") as name:
        yield Path(name)


def _table(parts: Sequence[Measured]) -> Iterator[str]:
    yield "| set | way | measure | value | 95 % | of |"
    yield "|---|---|---|---|---|---|"
    for part in parts:
        for figure in part.figures:
            if figure.value is not None:
                yield f"| {part.name} | {part.way} | {figure.name} | {_cells(figure)} |"


def _cells(figure: Figure) -> str:
    low_high = "-" if figure.interval is None else "{:.3f} to {:.3f}".format(*figure.interval)
    return f"{figure.value:.3f} | {low_high} | {figure.of} of {figure.over}"


def _json_line(part: Measured) -> str:
    found = {
        figure.name: {
            "value": figure.value,
            "interval": None if figure.interval is None else list(figure.interval),
            "of": figure.of,
            "over": figure.over,
            "unit": figure.unit,
        }
        for figure in part.figures
    }
    return json.dumps({"set": part.name, "way": part.way, "missing": part.missing} | found)
