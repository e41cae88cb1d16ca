"""Runs one role of several as a process: started, watched, and stopped on request."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from monitor.errors import MonitorError
from monitor.roles.kafka.contact import Watch
from monitor.roles.kafka.sparing import Sparing
from monitor.roles.pages import Pages

LOUD: Final = ("aiokafka", "faust", "kafka", "mode")
"""Libraries that tell every step of theirs."""
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

    def unready(self) -> str | None:
        """Why nobody should rely on it now; None when they may."""
        ...


class Companion(Protocol):
    """Works beside a role."""

    async def start(self) -> None:
        """Begin."""
        ...

    async def stop(self) -> None:
        """Also when it was never started."""
        ...


class Beside:
    """A role with companions, which start before it and stop after it; the watch is the first."""

    def __init__(self, role: Role, companions: Sequence[Companion], watch: Watch) -> None:
        self._role = role
        self._companions = (watch, *companions)
        self._watch = watch

    async def start(self) -> None:
        """Raises MonitorError when the role cannot work."""
        for companion in self._companions:
            await companion.start()
        await self._role.start()

    async def stop(self) -> None:
        """The role first."""
        await self._role.stop()
        for companion in self._companions:
            await companion.stop()

    def fault(self) -> str | None:
        """The role's, or that its topics are no longer what it needs."""
        return self._role.fault() or self._watch.fault()

    def unready(self) -> str | None:
        """Why nobody should rely on the role now; None when they may."""
        return self._role.unready() or self._watch.fault() or self._watch.unready()


def quieten() -> None:
    """Hear warnings only of the libraries below us, and each once a minute."""
    for library in LOUD:
        logging.getLogger(library).setLevel(logging.WARNING)
    # It logs whole tracebacks of sockets that fail; who uses them logs the same in a line.
    logging.getLogger("kafka.net.transport").setLevel(logging.CRITICAL)
    sparing = Sparing(LOUD)
    for handler in logging.getLogger().handlers:
        handler.addFilter(sparing)


async def serve(role: Role, pages: Pages, say: Callable[[str], None], name: str) -> None:
    """Run until SIGTERM or SIGINT. Raises MonitorError when the role cannot go on."""
    quieten()
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
