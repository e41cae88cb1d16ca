"""`agent-monitor replay-topic`: the source topic played again, from an offset or a time."""

from __future__ import annotations

import argparse
import contextlib
from datetime import UTC, datetime
from pathlib import Path

from monitor.commands.options import (
    DONE,
    REFUSED,
    Commands,
    add_evaluation,
    command,
    say,
    settings_of,
)
from monitor.errors import ConfigurationError
from monitor.roles.files import replacing


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(
        commands, "replay-topic", "Play the source topic again, until its end as it is now."
    )
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument("--from-offset", type=_offset, metavar="N", help="in each partition")
    begin.add_argument(
        "--from-time", type=_time, metavar="TIME", help="ISO 8601, UTC where it names no zone"
    )
    parser.add_argument("--partition", type=_offset, metavar="N", help="only this one")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--ledger", type=Path, metavar="FILE", help="into a new SQLite file")
    where.add_argument(
        "--to-workers",
        action="store_true",
        help="to the topic's end, for the workers to read again",
    )
    parser.add_argument(
        "--reports", type=Path, metavar="FILE", help="append closed reports as JSON lines"
    )
    parser.add_argument("--metrics", type=Path, metavar="FILE", help="write the metrics page here")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    add_evaluation(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    # Of an extra, so that no other command needs it.
    from monitor.roles.kafka.reading import Since, records
    from monitor.roles.kafka.replaying import to_workers
    from monitor.roles.kafka.serving import quieten
    from monitor.wiring.kafka_replay import replay_topic

    quieten()
    settings = settings_of(arguments)
    since = Since(arguments.from_offset, arguments.from_time, arguments.partition)
    if arguments.to_workers:
        with contextlib.closing(records(settings.kafka, settings.kafka.source, since)) as found:
            print(f"sent again: {to_workers(found, settings.kafka)} records")
        return DONE
    if arguments.ledger.exists():
        raise ConfigurationError(
            f"{arguments.ledger} is there already; a replay would count into it what it may know"
        )
    replayed, page = replay_topic(settings, since, arguments.reports)
    if arguments.metrics:
        with replacing(arguments.metrics) as file:
            file.write(page)
    print(f"{replayed.records} records, {replayed.spans} spans; refused: {replayed.refused}")
    if not replayed.records:
        say("the topic holds nothing from there on")
    return REFUSED if replayed.refused else DONE


def _offset(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value


def _time(text: str) -> float:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 2026-11-30T19:00") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
