"""Whether the brokers answer and the topics are as they were, asked now and then.

A role that has nothing to do would not notice an outage, and the clients below it only log one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection
from typing import Final, Protocol

from aiokafka import AIOKafkaProducer

from monitor.config.kafka import KafkaSettings
from monitor.errors import MonitorError
from monitor.roles.kafka.outputs import Output
from monitor.roles.kafka.sending import KafkaSending
from monitor.roles.kafka.topics import misfit, require

LOG = logging.getLogger("agent_monitor")
ASK_S: Final = 5.0
SILENT_S: Final = 12.0
"""A broker that is started anew is back within it; a longer silence is worth telling."""


class Watch(Protocol):
    """Looks at the brokers beside a role."""

    async def start(self) -> None:
        """Raises MonitorError when the topics are not what the role needs."""
        ...

    async def stop(self) -> None:
        """Look no more."""
        ...

    def fault(self) -> str | None:
        """Why the role must end: its topics have changed; None while they are as they were."""
        ...

    def unready(self) -> str | None:
        """Why nobody should rely on the role now; None when they may."""
        ...


class Silence:
    """Since when nobody answers; tells the log once when it begins, and once when it ends."""

    def __init__(self, where: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._where = where
        self._clock = clock
        self._heard = clock()
        self._told = False

    def heard(self) -> None:
        """An answer came."""
        if self._told:
            LOG.warning("the brokers at %s answer again, after %.0f s", self._where, self.length_s)
        self._heard, self._told = self._clock(), False

    @property
    def length_s(self) -> float:
        """How long it has lasted."""
        return self._clock() - self._heard

    def told(self, after_s: float) -> str | None:
        """What it is in words, once it has lasted; None before."""
        if self.length_s <= after_s:
            return None
        if not self._told:
            self._told = True
            LOG.error("no broker answers at %s; what comes waits", self._where)
        return f"no broker has answered at {self._where} for {self.length_s:.0f} s"


class Contact:
    """Asks through the role's own producer."""

    def __init__(
        self,
        given: KafkaSettings,
        needed: Collection[str],
        producer: AIOKafkaProducer,
        sending: KafkaSending,
        probe: Callable[[], Output] | None = None,
    ) -> None:
        """`needed` are the topics that must be there; `probe` makes a record that says nothing.

        With a probe a role whose last records were not taken is unready until one is.
        """
        self._given = given
        self._needed = tuple(needed)
        self._producer = producer
        self._sending = sending
        self._probe = probe
        self._silence = Silence(", ".join(given.bootstrap))
        self._misfit: str | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Raises MonitorError when the topics are not what the role needs."""
        await asyncio.to_thread(require, self._given, self._needed)
        self._task = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Ask no more."""
        if self._task is not None:
            self._task.cancel()

    def fault(self) -> str | None:
        """What has become of the topics."""
        return self._misfit

    def unready(self) -> str | None:
        """That nobody answers, or that the last records were not taken."""
        return self._silence.told(SILENT_S) or (self._sending.trouble if self._probe else None)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(ASK_S)
            if await self._answers():
                self._silence.heard()
                self._compare()
            self._silence.told(SILENT_S)
            if self._probe and self._sending.trouble:
                with contextlib.suppress(MonitorError):
                    await self._sending.send([self._probe()])

    async def _answers(self) -> bool:
        client = self._producer.client
        for topic in self._needed:
            client.add_topic(topic)
        try:
            async with asyncio.timeout(ASK_S):
                return bool(await client.force_metadata_update())
        except TimeoutError:
            return False

    def _compare(self) -> None:
        known = {
            topic: len(self._producer.client.cluster.partitions_for_topic(topic) or ())
            for topic in self._needed
        }
        # A topic that is gone is told by the sends that fail: a broker may just not know it yet.
        there = {topic: count for topic, count in known.items() if count}
        self._misfit = misfit(self._given, there, there)
