"""One partition of one stage at work: outputs acknowledged, then state, then the source.

A group of records is worked on in memory; what comes of it is sent and acknowledged; then its state
is; only then may its offsets be committed. A record that fails is worked on alone, from the state
before it, and set aside if it fails again: it never blocks the partition.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from monitor.errors import MonitorError, StateError
from monitor.roles.kafka.dead_letters import WHY_LENGTH, DeadLetter, written
from monitor.roles.kafka.failpoints import Failpoints
from monitor.roles.kafka.names import Names
from monitor.roles.kafka.outputs import Output, Outputs
from monitor.roles.kafka.records import Outcome, packed
from monitor.roles.kafka.stages import Stage
from monitor.roles.kafka.state import PartitionState

LOG = logging.getLogger("agent_monitor")
GROUP_RECORDS: Final = 64
GROUP_BYTES: Final = 1_000_000


class Input(NamedTuple):
    """One record of the source."""

    offset: int
    key: bytes | None
    value: bytes | None
    ack: Callable[[], None]


class Sending(Protocol):
    """Where a lane's promises are kept."""

    async def send(self, outputs: Sequence[Output]) -> None:
        """Return when all are acknowledged."""
        ...

    async def keep(self, topic: str, partition: int, state: PartitionState) -> None:
        """Return when the step's state is acknowledged."""
        ...

    async def require_own(self, topic: str, partition: int) -> None:
        """Raise MonitorError when another worker has gone on with the partition."""
        ...

    async def load(self, topic: str, partition: int, state: PartitionState) -> list[DeadLetter]:
        """Read the state of a partition; what was found among it that is not ours."""
        ...


class Lane:
    """Works on one partition, in order. All calls come from one event loop."""

    def __init__(
        self,
        topic: str,
        partition: int,
        source: str,
        build: Callable[[PartitionState], Stage],
        sending: Sending,
        names: Names,
        *,
        partitions: int,
        record_bytes: int,
        stateful: bool,
        keep_payloads: bool,
        failpoints: Failpoints,
        held_up_s: float,
        after_source: Callable[[], Awaitable[Any]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`source` names the topic in origins; `after_source` commits, for a test's failpoint.

        A step that was held up for longer than `held_up_s` is kept only if the partition is still
        this worker's.
        """
        self.topic, self.partition = topic, partition
        self._source = source
        self._build = build
        self._sending = sending
        self._names = names
        self._partitions = partitions
        self._record_bytes = record_bytes
        self._stateful = stateful
        self._keep_payloads = keep_payloads
        self._failpoints = failpoints
        self._held_up_s = held_up_s
        self._after_source = after_source
        self._clock = clock
        self._queue: asyncio.Queue[Input] = asyncio.Queue(maxsize=4 * GROUP_RECORDS)
        self._state = PartitionState(record_bytes)
        self._stage: Stage | None = None
        self._task: asyncio.Task[None] | None = None
        self._hand: asyncio.Future[None] | None = None
        self.done: int | None = None
        """Offset of the last record that is done."""
        self.worked = 0
        self.busy_s = 0.0
        """CPU time of its thread in the stage."""
        self.set_aside = 0
        self.fatal: str | None = None

    @property
    def waiting(self) -> int:
        """Records that were handed over and are not done."""
        return self._queue.qsize()

    def wake(self) -> None:
        """Read the state and get ready, also when no record comes."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"{self.topic}/{self.partition}")

    async def put(self, item: Input) -> None:
        """Hand a record over; waits where too many wait."""
        self.wake()
        await self._queue.put(item)

    def is_due(self, now: float) -> bool:
        """Whether time alone gives it something to do."""
        return self._stage is not None and self._stage.is_due(now)

    async def stop(self) -> None:
        """Let the group in hand end; what waits stays in the topic."""
        if self._task is None:
            return
        while not self._queue.empty():
            self._queue.get_nowait()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self._hand is not None:
            await asyncio.gather(self._hand, return_exceptions=True)
        self._task = None

    async def _run(self) -> None:
        """The lane's outermost loop. A promise that cannot be kept ends the worker."""
        try:
            await self._ready()
            while True:
                group = await self._group()
                # A group under way is not torn: its promises are kept, or it ends the worker.
                self._hand = asyncio.ensure_future(self._work(group))
                await asyncio.shield(self._hand)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  the outermost loop; the worker ends for it
            self.fatal = f"{self.topic}/{self.partition}: {_told(error)}"
            LOG.error("a partition cannot go on: %s", self.fatal)  # noqa: TRY400

    async def _ready(self) -> None:
        if self._stateful:
            foreign = await self._sending.load(self.topic, self.partition, self._state)
            if foreign:
                # Each time it is read, under the same name: it may stay there for long.
                await self._sending.send([self._set_aside(letter) for letter in foreign])
        self._stage = self._build(self._state)

    async def _group(self) -> list[Input]:
        group = [await self._queue.get()]
        size = len(group[0].value or b"")
        while len(group) < GROUP_RECORDS and size < GROUP_BYTES and not self._queue.empty():
            group.append(self._queue.get_nowait())
            size += len(group[-1].value or b"")
        return group

    async def _work(self, group: Sequence[Input]) -> None:
        done = self._state.position.offset
        fresh = [item for item in group if not self._stateful or item.offset > done]
        if fresh and not await self._promised(fresh):
            for item in group:
                await self._work([item])
            return
        for item in group:
            item.ack()
        self.done = group[-1].offset
        self.worked += len(fresh)
        if fresh and self._failpoints.point == "after_source":
            await self._after_source()
            self._failpoints.passed("after_source")

    async def _promised(self, group: Sequence[Input]) -> bool:
        """Work on the group, and keep all promises but the last; False: take each one alone."""
        began, at = time.thread_time(), time.monotonic()
        outputs = self._worked(group)
        self.busy_s += time.thread_time() - began
        if outputs is None:
            return False
        await self._sending.send(outputs)
        self._failpoints.passed("after_output")
        if self._stateful:
            if time.monotonic() - at > self._held_up_s:
                await self._sending.require_own(self.topic, self.partition)
            await self._sending.keep(self.topic, self.partition, self._state)
        self._failpoints.passed("after_state")
        return True

    def _worked(self, group: Sequence[Input]) -> list[Output] | None:
        """The group's outputs, with its changes put into the state; None when a record fails."""
        found: list[Output] = []
        try:
            for item in group:
                found += self._handled(item)
            self._checkpoint(group[-1].offset)
        except Exception as error:
            if type(error) is StateError:
                # A later release wrote it, and one that reads it will: it is no poison.
                raise
            self._state.revert()
            self._stage = self._build(self._state)
            return self._given_up(group[0], error) if len(group) == 1 else None
        return found

    def _handled(self, item: Input) -> list[Output]:
        now = self._clock()
        outputs = self._outputs(item, now)
        if self._stage is None:
            raise MonitorError("a lane works before it is ready")
        self._stage.take(item.value, outputs, now)
        return outputs.found

    def _outputs(self, item: Input, now: float) -> Outputs:
        home = self.partition % self._partitions
        return Outputs(self._source, self.partition, item.offset, now, self._record_bytes, home)

    def _checkpoint(self, offset: int) -> None:
        if self._stage is not None:
            self._stage.checkpoint()
        self._state.position.offset = offset

    def _given_up(self, item: Input, error: Exception) -> list[Output]:
        """The dead letter, and what the ledger must know of it."""
        now, value = self._clock(), item.value
        counts = self._stage.lost(value) if self._stage is not None else {}
        redacted = self._stateful or self._keep_payloads
        small = value is not None and len(value) < self._record_bytes - WHY_LENGTH * 4
        letter = DeadLetter(
            self.topic,
            self.partition,
            item.offset,
            now,
            _told(error)[:WHY_LENGTH],
            item.key,
            value if redacted and small else None,
            len(value or b""),
        )
        aside = self._set_aside(letter)
        outputs = self._outputs(item, now)
        body = packed(Outcome(counts=counts))
        outputs.add(self._names.reports, outputs.home, b"dead letter", "effects", body)
        self._checkpoint(item.offset)
        return [*outputs.found, aside]

    def _set_aside(self, letter: DeadLetter) -> Output:
        self.set_aside += 1
        LOG.error("set %s aside: %s", letter.name, letter.why)
        return Output(self._names.dead_letters, None, letter.name.encode(), written(letter))


def _told(error: Exception) -> str:
    """The project's own words; of other errors only kind and place, since they may quote text."""
    if isinstance(error, MonitorError):
        return f"{type(error).__name__}: {error}"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}"
