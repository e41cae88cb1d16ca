"""How far every group is behind, asked of the broker now and then."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from kafka import TopicPartition
from kafka.admin import KafkaAdminClient, OffsetSpec
from kafka.errors import KafkaError

from monitor.config.kafka import KafkaSettings
from monitor.roles.kafka.clients import connection
from monitor.roles.kafka.contact import Silence
from monitor.roles.kafka.topics import misfit, require

LOG = logging.getLogger("agent_monitor")
INTERVAL_S: Final = 5.0
STALE_S: Final = 15.0


class GroupLags:
    """Asks on a thread of its own, so that no scrape waits for the broker."""

    def __init__(
        self,
        given: KafkaSettings,
        groups: Mapping[str, Sequence[str]],
        needed: Collection[str] = (),
        unused: Collection[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`groups` tells the topics of each; `needed` are those that must be as they should be.

        A group of `unused` that never committed anything has nobody in it, and is no news.
        """
        self._given = given
        self._groups = groups
        self._needed = tuple(needed)
        self._unused = tuple(unused)
        self._clock = clock
        self._silence = Silence(", ".join(given.bootstrap), clock)
        self._misfit: str | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lags", daemon=True)
        self._found: dict[tuple[str, str], int] = {}
        self._found_at = clock()

    @property
    def age_s(self) -> float:
        """Since the lags were measured last, or since the start."""
        return self._clock() - self._found_at

    @property
    def found(self) -> dict[tuple[str, str], int]:
        """The lags by group and topic; nothing once they are too old to be true."""
        return self._found if self.age_s <= STALE_S else {}

    async def start(self) -> None:
        """Begin to ask. Raises MonitorError when the topics are not as they should be."""
        await asyncio.to_thread(require, self._given, self._needed)
        self._thread.start()

    def fault(self) -> str | None:
        """What has become of the topics that are needed."""
        return self._misfit

    def unready(self) -> str | None:
        """That no broker answers."""
        return self._silence.told(STALE_S)

    async def stop(self) -> None:
        """Ask no more."""
        self._stopping.set()

    def look(self, admin: Any) -> dict[tuple[str, str], int]:
        """Records that each group has not acknowledged, by topic."""
        topics = sorted({topic for each in self._groups.values() for topic in each})
        ends = self._ends(admin, topics)
        committed = admin.list_group_offsets(list(self._groups))
        found: dict[tuple[str, str], int] = {}
        for group, names in self._groups.items():
            done = committed.get(group, {})
            if not done and group in self._unused:
                continue
            for where, end in ends.items():
                if where.topic in names:
                    at = done[where].offset if where in done else 0
                    key = group, where.topic
                    found[key] = found.get(key, 0) + max(0, end - max(at, 0))
        return found

    def _ends(self, admin: Any, topics: Sequence[str]) -> dict[TopicPartition, int]:
        described = admin.describe_topics(list(topics))
        there = {each["name"]: len(each["partitions"]) for each in described}
        self._misfit = misfit(self._given, there, [name for name in self._needed if there[name]])
        wanted = {
            TopicPartition(each["name"], part["partition_index"]): OffsetSpec.LATEST
            for each in described
            for part in each["partitions"]
        }
        return {
            where: found.offset for where, found in admin.list_partition_offsets(wanted).items()
        }

    def _run(self) -> None:
        admin = None
        while not self._stopping.is_set():
            try:
                admin = admin or KafkaAdminClient(**connection(self._given))
                self._found = self.look(admin)
                self._found_at = self._clock()
                self._silence.heard()
            except KafkaError as error:
                LOG.warning("the groups' lags are not known: %s", type(error).__name__)
            self._silence.told(STALE_S)
            self._stopping.wait(INTERVAL_S)
        if admin is not None:
            admin.close()
