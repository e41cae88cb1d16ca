"""The export role: reports from Kafka into the ledger, each once, with its place in one commit.

The ledger's file tells how far the topic is folded; what the broker knows of the group's place is
for those who look at lags. So a second export over a file of its own is a standby that needs
nothing of the first.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError, OffsetOutOfRangeError
from kafka.structs import OffsetAndMetadata

from monitor.config.kafka import KafkaSettings
from monitor.errors import (
    BackendUnavailable,
    DamagedState,
    LedgerError,
    MonitorError,
    StateError,
)
from monitor.roles.engine import Engine
from monitor.roles.kafka.clients import connection
from monitor.roles.kafka.inbox import Inbox
from monitor.roles.kafka.names import Names
from monitor.roles.kafka.records import Outcome, unpacked
from monitor.roles.kafka.told import Told
from monitor.roles.kafka.topics import asking
from monitor.verdict import Effects

LOG = logging.getLogger("agent_monitor")
POLL_MS: Final = 200
POLL_RECORDS: Final = 500
RETRY_S: Final = 1.0
STALLED_S: Final = 60.0
SINK_WAIT_S: Final = 5.0


class Exporter:
    """Reads, folds and commits on a thread of its own; hands reports to the sinks on another."""

    def __init__(
        self,
        given: KafkaSettings,
        names: Names,
        engine: Engine,
        close: Callable[[], None],
        *,
        group: str,
        lag: Callable[[float], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`group` only shows the place; `lag` takes the age of what was committed."""
        self._given = given
        self._names = names
        self._engine = engine
        self._close = close
        self._group = group
        self._lag = lag
        self._clock = clock
        self._stopping = threading.Event()
        self._committed = threading.Event()
        self._reader = threading.Thread(target=self._read, name="export", daemon=True)
        self._deliverer = threading.Thread(target=self._deliver, name="deliverer", daemon=True)
        self._moved_s = clock()
        self._fatal: str | None = None
        self._assigned = False
        self._topic = ""
        self.behind_s: float | None = None
        self._sought = False
        self.counters = dict.fromkeys(
            ("fault:store", "fault:writer", "fault:missed_records", "missed_records"), 0
        )

    async def start(self) -> None:
        """Begin where the file says.

        Raises BackendUnavailable when no broker answers, StateError when the file's totals are of
        another topic.
        """
        self._topic = await asyncio.to_thread(self._identity)
        self._require_same_topic()
        self._consumer = await asyncio.to_thread(self._connected)
        self._reader.start()
        self._deliverer.start()

    async def stop(self) -> None:
        """Commit what was taken in."""
        self._stopping.set()
        self._committed.set()
        if self._reader.ident is not None:
            await asyncio.to_thread(self._reader.join)
            await asyncio.to_thread(self._deliverer.join, SINK_WAIT_S)
            await asyncio.to_thread(self._consumer.close)
        self._close()

    def fault(self) -> str | None:
        """Why this process should end; None while it works."""
        if self._fatal:
            return self._fatal
        silent_s = self._clock() - self._moved_s
        return f"the export has not moved for {silent_s:.0f} s" if silent_s > STALLED_S else None

    def unready(self) -> str | None:
        """Why nobody should rely on it yet; None when they may."""
        return self.fault() or (None if self._assigned else "not reading yet")

    def _connected(self) -> Any:
        try:
            consumer = KafkaConsumer(
                **connection(self._given),
                group_id=self._group,
                enable_auto_commit=False,
                auto_offset_reset="none",  # what is gone must not be passed over in silence
            )
            found = consumer.partitions_for_topic(self._names.reports)
        except KafkaError as error:
            where = ", ".join(self._given.bootstrap)
            raise BackendUnavailable(f"no broker at {where}: {type(error).__name__}") from error
        if not found:
            consumer.close()
            raise BackendUnavailable(
                f"topic {self._names.reports} is not there; `agent-monitor topics` makes it"
            )
        consumer.assign([TopicPartition(self._names.reports, number) for number in sorted(found)])
        return consumer

    def _identity(self) -> str:
        """The topic's name, and what tells it from one of that name before."""
        with asking(self._given) as admin:
            (found,) = admin.describe_topics([self._names.reports])
        return f"{self._names.reports}/{found['topic_id']}"

    def _require_same_topic(self) -> None:
        place = self._told().place
        if place.topic not in ("", self._topic):
            raise StateError(
                f"the ledger's totals are of topic {place.topic}, the broker has {self._topic}: "
                "offsets of one mean nothing in the other; use a new ledger file, or the old prefix"
            )

    def _read(self) -> None:
        """The reading thread's outermost loop; so it alone catches everything, and counts."""
        while not self._stopping.is_set():
            try:
                if not self._sought:
                    self._seek()
                self._step()
            except OffsetOutOfRangeError:
                self._sought = False
            except LedgerError as error:
                self.counters["fault:store"] += 1
                LOG.error("the ledger cannot be written: %s", error)  # noqa: TRY400
                self._back()
            except (StateError, KafkaError) as error:
                self._fatal = f"{type(error).__name__}: {error}"
                return
            except Exception as error:  # noqa: BLE001  counted; its text may quote a customer
                self.counters["fault:writer"] += 1
                frame = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}"
                LOG.error("the export goes back to the last commit after %s", place)  # noqa: TRY400
                self._back()

    def _step(self) -> None:
        polled = self._consumer.poll(timeout_ms=POLL_MS, max_records=POLL_RECORDS)
        self._assigned = True
        latest: float | None = None
        for where, records in polled.items():
            for record in records:
                latest = self._fold(where.partition, record, latest)
        self._engine.orders.carry_out()
        now = self._clock()
        if polled or self._engine.dirty:
            for at, _ in self._engine.commit(now):
                self._lag(now - at)
            self._committed.set()
            self._show()
        if latest is not None:
            self.behind_s = max(0.0, now - latest)
        elif not polled:
            self.behind_s = 0.0 if self.behind_s is not None else None
        self._moved_s = now

    def _fold(self, partition: int, record: Any, latest: float | None) -> float | None:
        told = self._told()
        told.place.topic = self._topic
        told.place.offsets[partition] = record.offset + 1
        try:
            envelope = Inbox(told.place.lines, told.place.parts).take(record.value)
            if envelope is None:
                return latest
            outcome = unpacked(envelope.body, Outcome)
        except DamagedState as error:
            LOG.error("record %s/%d passed over: %s", partition, record.offset, error)  # noqa: TRY400
            self._engine.take(self._clock(), Effects(counts={"rejected:malformed": 1}))
            return latest
        if envelope.origin is not None:
            told.note(envelope.origin.line, outcome.gauges)
        effects = Effects(reports=tuple(outcome.reports), counts=outcome.counts)
        self._engine.take(envelope.at, effects)
        return max(latest or 0.0, envelope.at)

    def _told(self) -> Told:
        pipeline = self._engine.pipeline
        if not isinstance(pipeline, Told):
            raise StateError("the export's engine was built for a service that scores itself")
        return pipeline

    def _back(self) -> None:
        """To what is committed, there and here."""
        self._stopping.wait(RETRY_S)
        self._engine.recover()
        self._sought = False

    def _seek(self) -> None:
        """To what is committed, or the nearest to it that the topic still has."""
        place, parts = self._told().place, sorted(self._consumer.assignment())
        oldest = self._consumer.beginning_offsets(parts)
        ends = self._consumer.end_offsets(parts)
        for where in parts:
            begin = oldest[where]
            wanted = place.offsets.get(where.partition, 0 if place.topic else begin)
            found = min(max(wanted, begin), ends[where])
            if found != wanted:
                self._miss(where, wanted, found)
            self._consumer.seek(where, found)
            place.offsets[where.partition] = found
        place.topic = self._topic
        self._sought = True

    def _miss(self, where: TopicPartition, wanted: int, found: int) -> None:
        """Count and tell what the topic lost before it was read, or what it should still have."""
        self.counters["fault:missed_records"] += 1
        name = f"{where.topic}/{where.partition}"
        if found < wanted:
            LOG.error(
                "%s ends at %d, the ledger has it up to %d: brokers lost records",
                name,
                found,
                wanted,
            )
            return
        missed = found - wanted
        self._engine.take(self._clock(), Effects(counts={"missed_records": missed}))
        LOG.error(
            "%s: %d records from offset %d on were removed before this ledger had them, so its "
            "totals lack them; raise kafka.retention_s (deploy/kafka-operations.md, Recovery)",
            name,
            missed,
            wanted,
        )

    def _show(self) -> None:
        """Tell the broker the place, for those who look at lags."""
        places: dict[Any, Any] = {
            TopicPartition(self._names.reports, number): OffsetAndMetadata(offset, "", -1)
            for number, offset in self._told().place.offsets.items()
        }
        self._consumer.commit_async(places)

    def _deliver(self) -> None:
        while True:
            self._committed.wait(SINK_WAIT_S)
            self._committed.clear()
            last = self._stopping.is_set()
            try:
                self._engine.deliver()
            except MonitorError as error:
                self.counters["fault:store"] += 1
                LOG.error("a sink's place cannot be kept: %s", error)  # noqa: TRY400
            except Exception as error:  # noqa: BLE001  the thread's outermost loop; counted
                self.counters["fault:writer"] += 1
                LOG.error("a sink failed with %s", type(error).__name__)  # noqa: TRY400
            if last:
                return
