"""How far every group is behind, asked of the broker now and then."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kafka import TopicPartition
from kafka.admin import KafkaAdminClient, OffsetSpec
from kafka.errors import KafkaError

from monitor.config.kafka import KafkaSettings
from monitor.roles.kafka.clients import connection

LOG = logging.getLogger("agent_monitor")
INTERVAL_S: Final = 10.0


class GroupLags:
    """Asks on a thread of its own, so that no scrape waits for the broker."""

    def __init__(
        self,
        given: KafkaSettings,
        groups: Mapping[str, Sequence[str]],
        interval_s: float = INTERVAL_S,
    ) -> None:
        """`groups` tells the topics of each."""
        self._given = given
        self._groups = groups
        self._interval_s = interval_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lags", daemon=True)
        self.found: dict[tuple[str, str], int] = {}
        """Replaced as a whole."""

    async def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

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
            for where, end in ends.items():
                if where.topic in names:
                    at = done[where].offset if where in done else 0
                    key = group, where.topic
                    found[key] = found.get(key, 0) + max(0, end - max(at, 0))
        return found

    def _ends(self, admin: Any, topics: Sequence[str]) -> dict[TopicPartition, int]:
        described = admin.describe_topics(list(topics))
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
                self.found = self.look(admin)
            except KafkaError as error:
                LOG.warning("the groups' lags are not known: %s", type(error).__name__)
            self._stopping.wait(self._interval_s)
        if admin is not None:
            admin.close()
