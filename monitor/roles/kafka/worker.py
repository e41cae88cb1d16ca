"""The score role as a Faust app: group, assignment and delivery are Faust's, the promises ours.

Faust hands records over one by one (`events()`), and a lane for each partition works on them; a
record is acknowledged by its lane when all that came of it is. Nothing is taken from Faust that
would acknowledge earlier, or keep state elsewhere: no tables, no `take`, no `group_by`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import faust
from faust.types import TP

from monitor.config.kafka import KafkaSettings
from monitor.errors import MonitorError
from monitor.roles.kafka.clients import credentials
from monitor.roles.kafka.lane import Input, Lane
from monitor.roles.kafka.outputs import Output
from monitor.roles.kafka.records import Envelope, written
from monitor.roles.kafka.sending import KafkaSending
from monitor.roles.kafka.stalls import Stalls

LOG = logging.getLogger("agent_monitor")
FETCH_BYTES: Final = 1_048_576

Lanes = Mapping[str, Callable[[int], Lane]]
"""By topic, what makes the lane of a partition."""


class Stand(NamedTuple):
    """How far one partition is."""

    topic: str
    partition: int
    worked: int
    waiting: int
    lag: int | None
    busy_s: float
    set_aside: int


class Worker:
    """One process of the group. All but the pages run on one event loop."""

    def __init__(
        self,
        given: KafkaSettings,
        group: str,
        sending: KafkaSending,
        lanes: Lanes,
        ticked: tuple[str, ...],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`ticked` are the topics whose lanes have work that only time brings."""
        self._given = given
        self._sending = sending
        self._build = lanes
        self._ticked = ticked
        self._clock = clock
        self._lanes: dict[tuple[str, int], Lane] = {}
        self._stalls = Stalls(given.stalled_s)
        self._stopping = False
        self._tasks: list[asyncio.Task[None]] = []
        self._started = False
        self.app = self._faust(group)

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The partitions that were worked on since they were assigned."""
        return tuple(self._lanes.values())

    async def start(self) -> None:
        """Join the group. Raises BackendUnavailable when no broker answers."""
        await self._sending.start()
        self.app.on_partitions_revoked.connect(self._revoked)
        self.app.on_partitions_assigned.connect(self._assigned)
        await self.app.start()
        self._tasks = [asyncio.create_task(self._tick_on())]
        self._started = True

    async def stop(self) -> None:
        """Finish the groups in hand, commit, and leave the group."""
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._given.drain_s):
                await asyncio.gather(*(lane.stop() for lane in self._lanes.values()))
                if self._started:
                    await self.app.consumer.commit()
        if self._started:
            await self.app.stop()
        await self._sending.stop()

    def fault(self) -> str | None:
        """Why this process should end, and be started anew; None while it works."""
        for lane in self._lanes.values():
            if lane.fatal:
                return lane.fatal
            if self._is_stalled(lane):
                return f"{lane.topic}/{lane.partition} has work and has not moved"
        if self.app.crashed:
            return "the connection to the group is lost"
        return None

    def unready(self) -> str | None:
        """Whether it has joined, and works."""
        return self.fault() or (None if self._started else "it has not joined the group yet")

    def _is_stalled(self, lane: Lane) -> bool:
        """Whether it has had work for long, and has got nowhere with it."""
        waits = bool(lane.waiting or self._lag(lane))
        place = lane.topic, lane.partition
        return self._stalls.is_stalled(place, lane.done, self._clock(), waits=waits)

    def stands(self) -> list[Stand]:
        """How far each partition is, as far as this process knows."""
        return [
            Stand(
                lane.topic,
                lane.partition,
                lane.worked,
                lane.waiting,
                self._lag(lane),
                lane.busy_s,
                lane.set_aside,
            )
            for lane in self._lanes.values()
        ]

    def _lag(self, lane: Lane) -> int | None:
        try:
            end = self.app.consumer.highwater(TP(lane.topic, lane.partition))
        except (KeyError, AttributeError, AssertionError):
            return None
        return None if end is None or lane.done is None else max(0, end - 1 - lane.done)

    def _faust(self, group: str) -> Any:
        given = self._given
        app = faust.App(
            group,
            broker=[f"kafka://{address}" for address in given.bootstrap],
            broker_credentials=credentials(given),
            processing_guarantee="at_least_once",
            autodiscover=False,
            web_enabled=False,
            store="memory://",
            topic_allow_declare=False,
            topic_disable_leader=True,
            key_serializer="raw",
            value_serializer="raw",
            consumer_auto_offset_reset="earliest",
            consumer_group_instance_id=given.instance,
            consumer_max_fetch_size=FETCH_BYTES,
            broker_session_timeout=given.session_s,
            broker_heartbeat_interval=given.session_s / 5,
            broker_commit_interval=given.commit_s,
            stream_buffer_maxsize=max(16, given.read_ahead_bytes // FETCH_BYTES),
            stream_wait_empty=False,
            stream_recovery_delay=0.0,
        )
        for topic in self._build:
            self._listen(app, topic)
        return app

    def _listen(self, app: Any, topic: str) -> None:
        channel = app.topic(topic, key_serializer="raw", value_serializer="raw", allow_empty=True)

        async def deliver(stream: Any) -> None:
            async for event in stream.noack().events():
                await self._deliver(stream, event)

        app.agent(channel, name=f"score.{topic}")(deliver)

    async def _deliver(self, stream: Any, event: Any) -> None:
        message = event.message
        if self._stopping:
            return
        lane = self._lane(message.topic, message.partition)

        def ack() -> None:
            event.ack()

        await lane.put(Input(message.offset, message.key, message.value, ack))

    def _lane(self, topic: str, partition: int) -> Lane:
        lane = self._lanes.get((topic, partition))
        if lane is None:
            lane = self._lanes[topic, partition] = self._build[topic](partition)
        return lane

    async def _revoked(self, *_: Any, **__: Any) -> None:
        """The state may have moved on elsewhere when a partition comes back: it is read again."""
        lanes, self._lanes = self._lanes, {}
        await asyncio.gather(*(lane.stop() for lane in lanes.values()))

    async def _assigned(self, _: Any, assigned: Any, **__: Any) -> None:
        """Wake the partitions up whose state may hold work that only time brings."""
        for found in assigned:
            if found.topic in self._ticked:
                self._lane(found.topic, found.partition).wake()

    async def _tick_on(self) -> None:
        """A keyed message for each partition with something due; timers change no state."""
        while True:
            await asyncio.sleep(self._given.tick_s)
            now = self._clock()
            due = [
                Output(lane.topic, lane.partition, b"tick", written(Envelope("tick", now)))
                for lane in self._lanes.values()
                if lane.topic in self._ticked and lane.is_due(now)
            ]
            try:
                await self._sending.send(due)
            except MonitorError as error:
                LOG.warning("no tick was sent: %s", error)
