"""`agent-monitor run`: the embedded roles and their pages, started, watched and stopped as one."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from monitor.errors import MonitorError
from monitor.roles.embedded import Embedded
from monitor.roles.pages import Pages

WATCH_S = 1.0


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the service listens."""

    receivers: tuple[str, ...]
    pages: str


class Companion(Protocol):
    """Works beside the receivers: starts before them, and stops after them in bounded time."""

    counters: dict[str, int]

    async def start(self) -> None:
        """Raises ConfigurationError when it cannot work."""
        ...

    async def stop(self) -> None:
        """Also when it was never started."""
        ...


class Service:
    """One sidecar process."""

    def __init__(
        self,
        embedded: Embedded,
        pages: Pages,
        close: Callable[[], None],
        companions: Sequence[Companion] = (),
    ) -> None:
        """`close` gives back the file, after everything else has stopped."""
        self._companions = tuple(companions)
        self._embedded = embedded
        self._pages = pages
        self._close = close

    @property
    def fatal(self) -> str | None:
        """Why the service cannot go on; None while it can."""
        return self._embedded.health.fatal

    def source_faults(self) -> dict[str, str | None]:
        """What keeps each source that is read from reading; None where nothing does."""
        return self._embedded.source_faults()

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of what brings spans, in the order of their addresses."""
        return self._embedded.sources

    async def start(self) -> Addresses:
        """Pages first, so that a start that takes long can be watched; then the receivers."""
        try:
            pages = await self._pages.start()
            for companion in self._companions:
                await companion.start()
            receivers = await self._embedded.start()
        except BaseException:
            await self.stop()
            raise
        return Addresses(tuple(receivers), pages)

    async def stop(self, *, flush: bool = False) -> None:
        """Stop as `Embedded.stop` does, then close the pages and the file."""
        await self._embedded.stop(flush=flush)
        for companion in self._companions:
            await companion.stop()
        await self._pages.stop()
        self._close()


async def serve(service: Service, say: Callable[[str], None], *, flush: bool) -> None:
    """Run until SIGTERM or SIGINT, saying where the service listens.

    Raises MonitorError when the file became unusable for good, so that a supervisor sees it.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    addresses = await service.start()
    for source, address in zip(service.sources, addresses.receivers, strict=True):
        kind = "receiving OTLP on" if source.startswith("otlp") else f"reading {source} at"
        say(f"{kind} {address}")
    say(f"metrics on {addresses.pages}/metrics, status on {addresses.pages}/")
    known: dict[str, str | None] = {}
    while not stop.is_set() and service.fatal is None:
        for source, fault in service.source_faults().items():
            if fault != known.get(source):
                say(f"{source}: {fault or 'reads again'}")
            known[source] = fault
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), WATCH_S)
    say("stopping: answering what is under way and committing what was accepted")
    await service.stop(flush=flush)
    if service.fatal:
        raise MonitorError(service.fatal)
