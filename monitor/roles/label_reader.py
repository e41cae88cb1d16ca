"""Reads labels of people again and again, and hands them to the ledger's book."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec

from monitor.agreement.human import parse_human_label
from monitor.errors import InvalidInput, MonitorError
from monitor.ledger.label_book import LabelBook
from monitor.roles.files import lines
from monitor.verdict import HumanLabel, Report

BATCH: Final = 500
UNREAD: Final = ("rejected", "no_opinion", "no_subject")
"""What annotations count that says nothing that can be compared."""
OVERLAP_S: Final = 300.0
"""How far back each look goes beyond the last: a score shows some time after its own time."""


def wall_clock() -> float:
    """Seconds since the epoch."""
    return time.time()


class Annotations(Protocol):
    """A backend's labels from a moment on, by the ids that reports have."""

    def __call__(self, since_s: float, counters: dict[str, int]) -> AsyncIterator[HumanLabel]:
        """Counts what it cannot understand. Raises MonitorError while it cannot be read."""
        ...


class LabelSink:
    """Keeps of closed reports what labels are held against."""

    name = LabelBook.name

    def __init__(self, book: LabelBook, clock: Callable[[], float]) -> None:
        """`clock` tells when a report was kept."""
        self._book = book
        self._clock = clock

    def write(self, reports: Iterable[Report]) -> None:
        """Idempotent: a report that comes again changes nothing."""
        self._book.keep(reports, self._clock())


class LabelReader:
    """Looks at files and annotations every so often. A source that fails costs one look."""

    def __init__(
        self,
        book: LabelBook,
        files: Sequence[Path],
        annotations: Annotations | None,
        *,
        rename: Callable[[str], str] = str,
        clock: Callable[[], float],
        interval_s: float,
        keep_s: float,
    ) -> None:
        """`rename` makes a file's conversation ids those of reports, which are redacted.

        Annotations older than `keep_s` are never asked for.
        """
        self._rename = rename
        self._book = book
        self._files = tuple(files)
        self._annotations = annotations
        self._clock = clock
        self._interval_s = interval_s
        self._since_s = clock() - keep_s
        self._seen: dict[Path, tuple[int, int]] = {}
        self._bad: set[tuple[Path, bytes]] = set()
        self._task: asyncio.Task[None] | None = None
        self.counters: dict[str, int] = {}
        """`labels_read`, `labels_refused`, `labels_errors`: looks that a source refused."""

    async def start(self) -> None:
        """Begin to look; what is there already is read at once."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Also when it was never started."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def look(self) -> None:
        """Read what is new, once."""
        for path in self._files:
            try:
                await asyncio.to_thread(self._read_file, path)
            except (MonitorError, OSError):
                self._count("labels_errors")
        if self._annotations is not None:
            try:
                await self._read_annotations(self._annotations)
            except MonitorError:
                self._count("labels_errors")

    async def _run(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(self._interval_s)

    def _read_file(self, path: Path) -> None:
        told = path.stat()
        state = (told.st_mtime_ns, told.st_size)
        if self._seen.get(path) == state:
            return
        batch: list[HumanLabel] = []
        for number, line in lines(path):
            try:
                batch.append(self._renamed(parse_human_label(line, f"{path}, line {number}")))
            except InvalidInput:
                self._refuse(path, line)
            if len(batch) >= BATCH:
                self._offer(batch)
                batch = []
        self._offer(batch)
        self._seen[path] = state

    async def _read_annotations(self, annotations: Annotations) -> None:
        begun_s = self._clock()
        batch: list[HumanLabel] = []
        unread: dict[str, int] = {}
        async for label in annotations(self._since_s, unread):
            batch.append(label)
            if len(batch) >= BATCH:
                await asyncio.to_thread(self._offer, batch)
                batch = []
        await asyncio.to_thread(self._offer, batch)
        self._count("labels_refused", sum(unread.get(why, 0) for why in UNREAD))
        self._since_s = max(self._since_s, begun_s - OVERLAP_S)

    def _renamed(self, label: HumanLabel) -> HumanLabel:
        named = label.conversation_id
        if named is None:
            return label
        return msgspec.structs.replace(label, conversation_id=self._rename(named))

    def _offer(self, batch: Sequence[HumanLabel]) -> None:
        if batch:
            self._book.offer(batch, self._clock())
            self._count("labels_read", len(batch))

    def _refuse(self, path: Path, line: bytes) -> None:
        """Count a bad line once, however often its file is read again."""
        if (path, line[:BATCH]) not in self._bad and len(self._bad) < BATCH:
            self._bad.add((path, line[:BATCH]))
            self._count("labels_refused")

    def _count(self, name: str, amount: int = 1) -> None:
        self.counters[name] = self.counters.get(name, 0) + amount
