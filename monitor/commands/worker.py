"""`agent-monitor worker`: the score role over Kafka, one of as many as are wanted."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from monitor.commands.options import (
    DONE,
    Commands,
    add_evaluation,
    command,
    say,
    settings_of,
)


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(
        commands, "worker", "Score traces from Kafka, sharing them with other workers."
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    add_evaluation(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    # Of an extra, so that no other command needs it.
    from monitor.roles.kafka.serving import serve
    from monitor.wiring.kafka import worker

    settings = settings_of(arguments)

    async def running() -> None:
        role, pages = worker(settings)
        await serve(role, pages, say, "the worker")

    asyncio.run(running())
    return DONE
