"""`agent-monitor judge`: the judge role over Kafka."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from monitor.commands.options import DONE, Commands, command, say, settings_of


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(
        commands, "judge", "Ask the judge about the conversations that the workers drew."
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="the judge's own SQLite file")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    # Of an extra, so that no other command needs it.
    from monitor.roles.kafka.serving import serve
    from monitor.wiring.kafka_roles import judge

    settings = settings_of(arguments)

    async def running() -> None:
        role, pages = judge(settings)
        await serve(role, pages, say, "judge")

    asyncio.run(running())
    return DONE
