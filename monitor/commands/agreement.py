"""`agent-monitor agreement`: how far reports agree with what people said."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from monitor import chosen
from monitor.agreement.coefficients import FEW, Agreement, Coefficient
from monitor.commands.options import DONE, REFUSED, Commands, command, say, settings_of
from monitor.errors import ConfigurationError
from monitor.roles.human_labels import Compared, compared
from monitor.wiring.labels import annotations_now


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(
        commands, "agreement", "Compare reports with human labels, sub-metric by sub-metric."
    )
    parser.add_argument("reports", type=Path, metavar="REPORTS.jsonl[.gz]")
    parser.add_argument(
        "labels",
        type=Path,
        nargs="*",
        metavar="LABELS.jsonl[.gz]",
        help="a line a label: conversation_id (or trace_id), turn_no, turn_id or span_id, "
        "sub_metric, label 0 or 1 or score 0 to 1, annotator",
    )
    parser.add_argument(
        "--langfuse",
        action="store_true",
        help="also the annotation scores of the Langfuse server that the settings name",
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for machines")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    settings = settings_of(arguments)
    if not arguments.labels and not arguments.langfuse:
        raise ConfigurationError("name a file of labels, or say --langfuse")
    redaction = chosen.replay_redaction(settings)
    more = asyncio.run(annotations_now(settings, redaction)) if arguments.langfuse else []
    rename = redaction.name if redaction else str
    found = compared(arguments.reports, arguments.labels, more, rename)
    for text in map(_json_line, found.agreements) if arguments.json else _table(found.agreements):
        print(text)
    _tell(found)
    return REFUSED if found.refused else DONE


def _tell(found: Compared) -> None:
    for fault in found.faults:
        say(fault)
    if found.unmatched:
        say(f"{found.unmatched} labels are of nothing that is in the reports")
    if found.unscored:
        say(f"{found.unscored} labels are of what the monitor left unscored")
    if any(each.pairs < FEW for each in found.agreements):
        say(f"fewer than {FEW} pairs: the intervals are too wide to act on")
    sys.stderr.flush()


def _table(found: Sequence[Agreement]) -> Iterator[str]:
    yield (
        "| sub-metric | pairs | conversations | annotators | both pass | only automated "
        "| only human | both fail | Pearson | Spearman | kappa |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for each in found:
        cells = [
            *(each.sub_metric, each.pairs, each.conversations, each.annotators),
            *(each.both_pass, each.only_automated_passes),
            *(each.only_human_passes, each.both_fail),
            *map(_shown, (each.pearson, each.spearman, each.kappa)),
        ]
        yield f"| {' | '.join(map(str, cells))} |"


def _shown(coefficient: Coefficient) -> str:
    if coefficient.value is None:
        return "-"
    shown = f"{coefficient.value:.3f}"
    if coefficient.interval is None:
        return shown
    return shown + " ({:.3f} to {:.3f})".format(*coefficient.interval)


def _json_line(each: Agreement) -> str:
    told = each._asdict()
    for name in ("pearson", "spearman", "kappa"):
        told[name] = told[name]._asdict()
    return json.dumps(told)
