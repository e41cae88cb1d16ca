"""`agent-monitor replay`: recorded traces through the monitor."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from monitor import chosen, wiring
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
from monitor.roles import batch
from monitor.roles.files import distinct, replacing


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(commands, "replay", "Run recorded OTLP/JSON lines through the monitor.")
    parser.add_argument("traces", nargs="+", type=Path, metavar="TRACES.jsonl[.gz]")
    parser.add_argument("--out", required=True, type=Path, metavar="REPORTS.jsonl[.gz]")
    parser.add_argument("--metrics", type=Path, metavar="FILE", help="write the metrics page here")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    add_format(parser)
    add_evaluation(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    settings = settings_of(arguments)
    outputs = [path for path in (arguments.out, arguments.metrics) if path]
    distinct(inputs=arguments.traces, outputs=outputs)
    with tempfile.TemporaryDirectory(prefix="agent-monitor-") as folder:
        redaction = chosen.replay_redaction(settings)
        parts = wiring.engine(
            settings, Path(folder) / "replay.sqlite3", durable=False, redaction=redaction
        )
        decoders = wiring.file_decoders(settings, arguments.format, arguments.mapping)
        summary = batch.replay(
            arguments.traces,
            decoders,
            parts.engine,
            arguments.out,
            progress=True,
            redact=redaction.spans if redaction else list,
        )
        if arguments.metrics:
            body, _ = parts.render("text/plain")
            with replacing(arguments.metrics) as file:
                file.write(body)
        parts.close()
    print(summary.text())
    if summary.lines and not summary.reports:
        say("no conversation was found; --format NAME reads what a framework wrote itself")
        return REFUSED
    return REFUSED if summary.refused_lines or summary.refused_spans else DONE
