"""`agent-monitor demo`: two releases of a sample agent, live."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from monitor import wiring
from monitor.commands.options import (
    DONE,
    Commands,
    command,
)
from monitor.roles.demo import live


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(commands, "demo", "Monitor two releases of a sample agent, live.")
    parser.add_argument("--keep", action="store_true", help="keep running after the result")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="agent-monitor-demo-") as name:
        folder = Path(name)
        references, tools, played = live.prepare(folder)
        running = wiring.service(wiring.demo_settings(folder, references, tools))

        async def play() -> None:
            try:
                await live.show(await running.start(), played, print)
                if arguments.keep:
                    print("\nkeeping the monitor running; stop it with Ctrl-C", flush=True)
                    await asyncio.Event().wait()
            finally:
                await running.stop()

        asyncio.run(play())
    return DONE
