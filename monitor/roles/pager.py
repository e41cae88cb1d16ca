"""Tells Alertmanager of pages as soon as they are due, until they are over."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol

import msgspec

from monitor.alerting.pages import Alert, Pair, Policy, Told, alert_of, due, followed, told_of
from monitor.errors import BackendUnavailable, MonitorError
from monitor.ledger.snapshot import Totals
from monitor.releases.standing import Shown

LOG = logging.getLogger("agent_monitor")
LOOK_S: Final = 1.0
"""Between two looks where no commit woke it: an operator may have cleared a release."""
RETRY_S: Final = 5.0
_DECODER: Final = msgspec.json.Decoder(list[tuple[str, str, Told]])


class Client(Protocol):
    """Takes alerts to an Alertmanager."""

    async def tell(self, alerts: Sequence[Alert]) -> None:
        """Raises BackendUnavailable."""
        ...

    async def close(self) -> None:
        """Give connections back."""
        ...


class Place(Protocol):
    """Keeps what was told, over a restart."""

    def read(self) -> bytes | None:
        """None before the first."""
        ...

    def keep(self, position: bytes) -> None:
        """Whole or not at all. Raises OSError."""
        ...


class Pager:
    """A companion of the service. What it tells is kept, though no page waits for the disk.

    So a restart ends the alerts that are over by then, goes on with the ones that are not, under
    the same labels and start, and Alertmanager notifies nobody twice. One that was told and not
    kept is told again while it is due, and ends by itself after that.
    """

    def __init__(
        self,
        client: Client,
        place: Place,
        shown: Callable[[], Shown],
        totals: Callable[[], Totals],
        policy: Policy,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`shown` is what the detectors say of committed reports; `totals` may read a file."""
        self._client = client
        self._place = place
        self._shown = shown
        self._totals = totals
        self._policy = policy
        self._clock = clock
        self._book: dict[Pair, Told] = {}
        self._kept: dict[Pair, Told] = {}
        self._sent: dict[Pair, float] = {}
        self._retry_at = 0.0
        self._failing = False
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()
        self.counters: dict[str, int] = {}

    def wake(self) -> None:
        """Look at once; from any thread."""
        if self._loop is not None and not self._woken.is_set():
            with contextlib.suppress(RuntimeError):  # the loop has closed
                self._loop.call_soon_threadsafe(self._woken.set)

    async def start(self) -> None:
        """Go on with what was told before. Raises ConfigurationError."""
        self._book = self._kept = _book_of(self._place.read())
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._watch())

    async def stop(self) -> None:
        """Tell nothing more: what is due stays due, and the next start goes on with it."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await self._client.close()

    async def look(self) -> None:
        """Tell what began, ended, or is to be repeated. Raises OSError when it cannot be kept."""
        now = self._clock()
        await self._follow(now)
        keeping = asyncio.ensure_future(self._keep())
        try:
            ended = await self._tell(now)
        finally:
            await keeping
        if ended:
            self._book = {p: told for p, told in self._book.items() if p not in ended}
            await self._keep()

    async def _tell(self, now: float) -> list[Pair]:
        """What is outstanding; the alerts whose end is told."""
        pairs = list(self._outstanding(now))
        if not pairs or now < self._retry_at:
            return []
        try:
            await self._client.tell([alert_of(self._book[p], self._policy, now) for p in pairs])
        except BackendUnavailable as error:
            self._retry_at = now + RETRY_S
            self._count("alerts_failed", 1)
            if not self._failing:
                LOG.error("Alertmanager cannot be told of pages: %s", error)  # noqa: TRY400
            self._failing = True
            return []
        self._failing = False
        self._count("alerts_told", len(pairs))
        self._sent.update(dict.fromkeys(pairs, now))
        return [pair for pair in pairs if self._book[pair].ended_s is not None]

    async def _watch(self) -> None:
        """The task's outermost loop, so it catches everything, and counts."""
        while True:
            try:
                await self.look()
            except (MonitorError, OSError) as error:
                self._count("alerts_failed", 1)
                LOG.error("pages cannot be looked for: %s", type(error).__name__)  # noqa: TRY400
            except Exception as error:  # noqa: BLE001  the outermost loop; counted
                self._count("alerts_failed", 1)
                LOG.error("the pager failed with %s", type(error).__name__)  # noqa: TRY400
            # Unlike `wait_for`, it never takes a cancellation for the end of the wait.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._woken.wait()
            self._woken.clear()

    async def _follow(self, now: float) -> None:
        """Bring the book up to date."""
        firing = {pair for pair, told in self._book.items() if told.ended_s is None}
        standings = due(self._shown(), firing)
        fresh = [s for s in standings if (s.release, s.baseline) not in firing]
        totals = await asyncio.to_thread(self._totals) if fresh else None
        wanted = [
            (s, told_of(s, totals, self._policy, now) if totals and s in fresh else None)
            for s in standings
        ]
        book = followed(self._book, wanted, now, self._policy)
        if book != self._book:
            for pair, told in book.items():
                if told != self._book.get(pair):
                    self._sent.pop(pair, None)
            self._book = book

    async def _keep(self) -> None:
        """The book, unless it is kept as it is."""
        book = self._book
        if book != self._kept:
            rows = [(*pair, told) for pair, told in sorted(book.items())]
            await asyncio.to_thread(self._place.keep, msgspec.json.encode(rows))
            self._kept = book

    def _outstanding(self, now: float) -> Iterator[Pair]:
        for pair in self._book:
            sent = self._sent.get(pair)
            if sent is None or now - sent >= self._policy.repeat_s:
                yield pair

    def _count(self, name: str, number: int) -> None:
        self.counters[name] = self.counters.get(name, 0) + number


def _book_of(kept: bytes | None) -> dict[Pair, Told]:
    """Damaged bytes are an empty book: what is due will be told anew."""
    if kept is None:
        return {}
    try:
        rows: list[tuple[str, str, Any]] = _DECODER.decode(kept)
    except msgspec.MsgspecError:
        return {}
    return {(release, baseline): told for release, baseline, told in rows}
