"""Watches an export and hands its runs on as spans."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from adapters.langfuse.blob import MALFORMED, BlobExport, Run
from adapters.langfuse.client import Sleeper
from adapters.langfuse.handover import Handover
from adapters.langfuse.poller import Keep
from monitor.errors import MonitorError
from monitor.ports import Accept, Decoded

INTERVAL_S: Final = 300.0


class LangfuseBlobReceiver:
    """Port Receiver; nothing listens, it looks for complete runs every `interval_s`.

    `keep` is called with the new position after all rows of a run were accepted, and the host
    stores it. A run that cannot be read is counted and passed over.
    """

    name = "langfuse/blob"

    def __init__(
        self,
        export: BlobExport,
        *,
        keep: Keep,
        interval_s: float = INTERVAL_S,
        conversation_attribute: str | None = None,
        release_attribute: str | None = None,
        sleep: Sleeper = asyncio.sleep,
    ) -> None:
        """The named entries go before all others of their kind."""
        self._export = export
        self._keep = keep
        self._interval_s = interval_s
        self._sleep = sleep
        self._handover = Handover(conversation_attribute, release_attribute, sleep=sleep)
        self._task: asyncio.Task[None] | None = None
        self._own: dict[str, int] = {}
        self.fault: str | None = None
        """What stops the reading, for a health page; None when it works."""

    @property
    def counters(self) -> dict[str, int]:
        """What happened, by bounded names."""
        merged = dict(self._export.counters)
        for counts in (self._handover.counters, self._own):
            for name, count in counts.items():
                merged[name] = merged.get(name, 0) + count
        return merged

    async def start(self, accept: Accept) -> str:
        """See the port."""
        self._task = asyncio.create_task(self._run(accept), name=self.name)
        return self.name

    async def stop(self) -> None:
        """See the port. A run that was not finished is read again."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def look(self, accept: Accept) -> int:
        """Hand on every complete run that is new; how many spans there were.

        Raises BackendUnavailable; runs that were finished before stay so.
        """
        handed = 0
        for run in await asyncio.to_thread(self._export.runs):
            try:
                handed += await self._hand_on(run, accept)
            except MALFORMED:
                # It will never be readable, and must not hold up the runs behind it.
                self._count("refused:run")
            self._export.finish(run)
            self._keep(self._export.position())
        return handed

    async def _hand_on(self, run: Run, accept: Accept) -> int:
        handed = 0
        portions = self._handover.portions(self._export.read(run))
        while (portion := await asyncio.to_thread(_next, portions)) is not None:
            decoded, size = portion
            handed += len(decoded.spans)
            await self._handover.offer(decoded, size, accept)
        return handed

    async def _run(self, accept: Accept) -> None:
        """The loop; the outermost one, so it alone catches everything, and counts."""
        while True:
            try:
                await self.look(accept)
            except MonitorError as error:
                self.fault = str(error)
                self._count("look_errors")
            except Exception as error:  # noqa: BLE001  the outermost loop; counted
                self._count("defects")
                self.fault = f"a defect in reading an export: {type(error).__name__}"
            else:
                self.fault = None
            await self._sleep(self._interval_s)

    def _count(self, what: str) -> None:
        self._own[what] = self._own.get(what, 0) + 1


def _next(portions: Iterator[tuple[Decoded, int]]) -> tuple[Decoded, int] | None:
    return next(portions, None)
