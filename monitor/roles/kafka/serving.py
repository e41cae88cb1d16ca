"""Runs one role of several as a process: started, watched, and stopped on request."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from typing import Final, Protocol

from monitor.errors import MonitorError
from monitor.roles.pages import Pages

WATCH_S: Final = 0.5
STOP_S: Final = 24.0


class Role(Protocol):
    """What a process does."""

    async def start(self) -> None:
        """Raises MonitorError when it cannot work."""
        ...

    async def stop(self) -> None:
        """Finish what is in hand, in bounded time; also after a start that failed."""
        ...

    def fault(self) -> str | None:
        """Why the process should end, for a supervisor to start it anew; None while it works."""
        ...


async def serve(role: Role, pages: Pages, say: Callable[[str], None], name: str) -> None:
    """Run until SIGTERM or SIGINT. Raises MonitorError when the role cannot go on."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signalled in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signalled, stop.set)
    say(f"metrics on {await pages.start()}/metrics")
    fault = None
    try:
        await role.start()
        say(f"{name} is running")
        while not stop.is_set() and fault is None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), WATCH_S)
            fault = role.fault()
        say("stopping: finishing what is in hand")
    finally:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(role.stop(), STOP_S)
        await pages.stop()
    if fault:
        raise MonitorError(fault)
