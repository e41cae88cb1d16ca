"""`agent-monitor export`: the export role over Kafka."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from monitor.commands.options import DONE, Commands, command, say, settings_of


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(commands, "export", "Fold reports from Kafka into the ledger, serve metrics.")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    parser.add_argument(
        "--metrics", dest="metrics_listen", metavar="HOST:PORT", help="where to serve /metrics"
    )
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="the SQLite file")
    parser.add_argument(
        "--reports", type=Path, metavar="FILE", help="append closed reports as JSON lines"
    )
    parser.add_argument(
        "--standby", action="store_true", help="only follow, with a file of its own; no sinks"
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    # Of an extra, so that no other command needs it.
    from monitor.roles.kafka.security import require_safe, tls
    from monitor.roles.kafka.serving import serve
    from monitor.wiring.kafka_roles import export

    settings = settings_of(arguments)
    require_safe(settings.kafka)
    tls(settings.kafka)

    async def running() -> None:
        role, pages = export(settings, standby=arguments.standby)
        await serve(role, pages, say, "export")

    asyncio.run(running())
    return DONE
