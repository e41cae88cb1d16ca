"""Polls a Langfuse server for observations and hands them on as spans."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import msgspec

from adapters.langfuse.client import Clock, LangfuseClient, NotThere, RefusedRequest, Sleeper
from adapters.langfuse.handover import Handover
from adapters.langfuse.pages import PageReader
from adapters.langfuse.rows import TraceRow, time_ns
from adapters.langfuse.seen import Seen, encoded_row, key_of, version_of
from monitor.errors import (
    BackendUnavailable,
    ConfigurationError,
    MalformedPayload,
    MonitorError,
    Overloaded,
)
from monitor.model import JsonValue
from monitor.ports import Accept

Keep = Callable[[bytes], None]
_SECOND_NS: Final = 1_000_000_000
_LONGEST_PAUSE_S: Final = 300.0


class PollTimes(msgspec.Struct, frozen=True, kw_only=True):
    """When and how far back to look; all in seconds."""

    interval_s: float = 15.0
    lookback_s: float = 3_600.0
    """How far before the first poll to begin, when there is no position."""
    overlap_s: float = 300.0
    """How far each poll reaches back: observations arrive after they started."""
    sweep_s: float = 7_200.0
    """How far every `sweep_every`th poll reaches back: at least as long as the longest run of an
    agent and the server's own delay, since an observation is found by its start."""
    sweep_every: int = 20
    window_s: float = 3_600.0
    """The longest span of time that is asked for at once."""
    unended_s: float = 900.0
    """Observations without an end are waited for this long, then taken as they are."""


class _Position(msgspec.Struct, frozen=True):
    """Everything that started before `upto_ns` and had arrived was accepted."""

    upto_ns: int
    seen: str = ""
    version: int = 1


class _Fresh(NamedTuple):
    """A row to hand on."""

    row: dict[str, JsonValue]
    trace: TraceRow
    encoded: bytes


class LangfusePoller:
    """Port Receiver; nothing listens, it asks.

    Delivery is at least once: `keep` is called with the new position after everything up to it was
    accepted, and the host stores it. `counters`: `polls`, `rows`, `repeated`, `waiting`,
    `refused:<why>` for what is never handed on, `rejected:<why>` for what the acceptor counts too,
    `poll_errors:<kind>`, `defects`, and those of the client and the reader.
    """

    name = "langfuse/poll"

    def __init__(
        self,
        client: LangfuseClient,
        *,
        clock: Clock,
        keep: Keep,
        position: bytes | None = None,
        times: PollTimes | None = None,
        environment: str | None = None,
        conversation_attribute: str | None = None,
        release_attribute: str | None = None,
        sleep: Sleeper = asyncio.sleep,
    ) -> None:
        """`position` is what `keep` was last called with. Raises ConfigurationError."""
        self._client = client
        self._clock = clock
        self._keep = keep
        self._times = times or PollTimes()
        self._sleep = sleep
        names = (conversation_attribute, release_attribute)
        self._reader = PageReader(
            client, environment=environment, expanded=tuple(name for name in names if name)
        )
        self._handover = Handover(*names, sleep=sleep)
        self._seen = Seen()
        self._upto_ns: int | None = None
        self._rounds = 0
        self._failures = 0
        self._task: asyncio.Task[None] | None = None
        self._own: dict[str, int] = {}
        self.fault: str | None = None
        """What stops the polling, for a health page; None when it works."""
        if position:
            self._restore(position)

    @property
    def counters(self) -> dict[str, int]:
        """What happened, by bounded names."""
        return {
            **self._client.counters,
            **self._reader.counters,
            **self._handover.counters,
            **self._own,
        }

    async def start(self, accept: Accept) -> str:
        """See the port; the address is the server's. It need not be up."""
        self._task = asyncio.create_task(self._run(accept), name=self.name)
        return self._client.base_url

    async def stop(self) -> None:
        """See the port. What was fetched and not accepted will be fetched again."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await self._client.close()

    async def poll(self, accept: Accept) -> int:
        """One round: everything from the position, less the overlap, until now.

        Returns how many observations were handed on. Raises MonitorError; the position stands
        where it was then, and the next round begins there.
        """
        self._count("polls")
        end_ns = int(self._clock() * 1_000) * 1_000_000
        handed = 0
        for start, end in self._windows(end_ns):
            async for page in self._reader.pages(start, end):
                fresh = self._fresh(page.rows, end_ns)
                await self._handover.hand_on([(item.row, item.trace) for item in fresh], accept)
                for item in fresh:
                    self._seen.add(item.row, item.encoded, _start_ns(item.row))
                handed += len(fresh)
            self._upto_ns = max(self._upto_ns or 0, end)
        self._seen.forget_before(end_ns - _ns(self._times.sweep_s + self._times.window_s))
        self._rounds += 1
        self._keep(self._position())
        return handed

    async def _run(self, accept: Accept) -> None:
        """The loop; the outermost one, so it alone catches everything, and counts."""
        while True:
            try:
                await self.poll(accept)
            except MonitorError as error:
                self._failed(error)
            except Exception as error:  # noqa: BLE001  the outermost loop; counted
                self._count("defects")
                self._failures += 1
                self.fault = f"a defect in polling: {type(error).__name__}"
            else:
                self._failures, self.fault = 0, None
            pause_s = self._times.interval_s * 2 ** min(self._failures, 8)
            await self._sleep(min(pause_s, max(_LONGEST_PAUSE_S, self._times.interval_s)))

    def _failed(self, error: MonitorError) -> None:
        self._failures += 1
        self.fault = str(error)
        self._count(f"poll_errors:{_KINDS.get(type(error), 'other')}")

    def _windows(self, end_ns: int) -> Iterable[tuple[int, int]]:
        """Consecutive spans of time from where to begin until the end, the oldest first."""
        times = self._times
        if self._upto_ns is None:
            start = end_ns - _ns(times.lookback_s)
        else:
            sweeps = self._rounds % max(1, times.sweep_every) == 0
            start = self._upto_ns - _ns(times.sweep_s if sweeps else times.overlap_s)
        while start < end_ns:
            end = min(end_ns, start + max(_SECOND_NS, _ns(times.window_s)))
            yield start, end
            start = end

    def _fresh(self, rows: list[tuple[JsonValue, TraceRow]], now_ns: int) -> list[_Fresh]:
        """The rows that are new, or newer than what was handed on, and that have ended."""
        fresh: dict[bytes, _Fresh] = {}
        for row, trace in rows:
            if not isinstance(row, dict):
                self._count("refused:malformed_observation")
                continue
            encoded, key = encoded_row(row), key_of(row)
            if not self._seen.is_new(row, encoded):
                self._count("repeated")
            elif self._is_running(row, now_ns):
                self._count("waiting")
            elif key in fresh and version_of(row) <= version_of(fresh[key].row):
                self._count("repeated")
            else:
                fresh[key] = _Fresh(row, trace, encoded)
        self._count("rows", len(fresh))
        return list(fresh.values())

    def _is_running(self, row: dict[str, JsonValue], now_ns: int) -> bool:
        if row.get("endTime") or row.get("type") == "EVENT":
            return False
        return _start_ns(row) > now_ns - _ns(self._times.unended_s)

    def _position(self) -> bytes:
        return msgspec.json.encode(_Position(self._upto_ns or 0, self._seen.stored()))

    def _restore(self, position: bytes) -> None:
        try:
            found = msgspec.json.decode(position, type=_Position)
        except (msgspec.MsgspecError, ValueError) as error:
            raise ConfigurationError(
                "the stored position of the Langfuse poller cannot be read; the operator must "
                "remove it, and polling begins anew"
            ) from error
        self._upto_ns = found.upto_ns
        self._seen.restore(found.seen)

    def _count(self, what: str, by: int = 1) -> None:
        self._own[what] = self._own.get(what, 0) + by


_KINDS: Final[dict[type[MonitorError], str]] = {
    BackendUnavailable: "unavailable",
    RefusedRequest: "refused",
    NotThere: "not_there",
    MalformedPayload: "malformed",
    Overloaded: "overloaded",
}


def _start_ns(row: dict[str, JsonValue]) -> int:
    return time_ns(row.get("startTime"))


def _ns(seconds: float) -> int:
    return int(seconds * 1_000) * 1_000_000
