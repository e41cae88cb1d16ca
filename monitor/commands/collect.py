"""`agent-monitor collect`: the collect role over Kafka."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from monitor.commands.options import DONE, Commands, command, say, settings_of


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(
        commands, "collect", "Receive traces, and hand them to the workers over Kafka."
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    parser.add_argument("--otlp", metavar="HOST:PORT", help="where to receive OTLP/HTTP")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    # Of an extra, so that no other command needs it.
    from monitor.roles.kafka.serving import serve
    from monitor.wiring.kafka_roles import collect

    settings = settings_of(arguments)

    async def running() -> None:
        role, pages = collect(settings, say)
        await serve(role, pages, say, "collect")

    asyncio.run(running())
    return DONE
