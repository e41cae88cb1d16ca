"""The judge role over its topics: cases in, opinions out to where the conversation is at home.

Cases wait in a file of the judge's own, with the budget and the answers that are known; a case
leaves it when the brokers have what came of it. So a judge that stalls holds up nobody.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final

import msgspec
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import NoOffsetForPartitionError, OffsetOutOfRangeError

from monitor.errors import BackendUnavailable, MonitorError, StateError
from monitor.ledger.database import Database
from monitor.ledger.judge_book import JudgeBook, Opinions
from monitor.ledger.state import StateStore
from monitor.roles.judge_worker import JudgeWorker
from monitor.roles.kafka.inbox import Inbox
from monitor.roles.kafka.names import Names
from monitor.roles.kafka.outputs import Output
from monitor.roles.kafka.records import (
    ENVELOPE_BYTES,
    Case,
    Envelope,
    Said,
    packed,
    unpacked,
    written,
)
from monitor.roles.kafka.sending import KafkaSending
from monitor.verdict import JudgeCase, Sample

LOG = logging.getLogger("agent_monitor")
POLL_MS: Final = 500
HOME: Final = "home:"


class JudgeRole:
    """One process; a second one shares the cases, each with a budget of its own."""

    def __init__(
        self,
        names: Names,
        database: Database,
        book: JudgeBook,
        consumer: AIOKafkaConsumer,
        sending: KafkaSending,
        record_bytes: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._names = names
        self._database = database
        self._book = book
        self._state = StateStore(database)
        self._consumer = consumer
        self._sending = sending
        self._record_bytes = record_bytes
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self._fatal: str | None = None
        self._parts: dict[str, bytes] = {}
        self._inbox = Inbox({}, self._parts)
        self.counters = dict.fromkeys(
            ("fault:missed_records", "missed_records", "rejected:malformed"), 0
        )
        self.worker: JudgeWorker | None = None
        """Set by the wiring, since it settles here."""

    @property
    def waiting(self) -> int:
        """Cases that nobody has answered yet."""
        return self._book.waiting()

    async def start(self) -> None:
        """Raises BackendUnavailable when no broker answers."""
        await self._sending.start()
        try:
            await self._consumer.start()
        except Exception as error:
            raise BackendUnavailable(f"no broker answers: {type(error).__name__}") from error
        if self.worker is not None:
            await self.worker.start()
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Leave what is not answered in the file."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self.worker is not None:
            await self.worker.stop()
        await self._consumer.stop()
        await self._sending.stop()
        self._database.close()

    def fault(self) -> str | None:
        """Why this process should end; None while it works."""
        return self._fatal

    def unready(self) -> str | None:
        """Whether it reads cases."""
        return self._fatal or (None if self._task else "not reading yet")

    def settle(self, seq: int, case: JudgeCase, opinions: Opinions) -> Future[None]:
        """Send what came of asking home, and take the case from the file."""
        loop = asyncio.get_running_loop()
        return asyncio.run_coroutine_threadsafe(self._settle(seq, case, opinions), loop)

    async def _settle(self, seq: int, case: JudgeCase, opinions: Opinions) -> None:
        await self._send_home(case, opinions)
        with self._database.transaction():
            self._book.answered(seq, case.conversation_id, opinions, self._clock())
            self._state.pop(HOME + case.conversation_id, None)

    async def _send_home(self, case: JudgeCase, opinions: Opinions) -> None:
        home = self._state.get(HOME + case.conversation_id)
        if home is None:
            return
        said = Said(case.conversation_id, opinions, case)
        body = packed(said)
        if len(body) > self._record_bytes - ENVELOPE_BYTES:
            body = packed(msgspec.structs.replace(said, case=None))
        key = case.conversation_id.encode("utf-8", "surrogatepass")
        value = written(Envelope("opinions", self._clock(), body=body))
        await self._sending.send([Output(self._names.conversations, int(home), key, value)])

    async def _run(self) -> None:
        """The outermost loop; so it alone catches everything."""
        try:
            while True:
                polled = await self._polled()
                for records in polled.values():
                    for record in records:
                        await self._queue(record)
                if polled and not self._parts:
                    await self._consumer.commit()
        except MonitorError as error:
            self._fatal = str(error)
        except Exception as error:  # noqa: BLE001  the process ends, and is started anew
            self._fatal = f"reading cases failed with {type(error).__name__}"

    async def _polled(self) -> Mapping[TopicPartition, Sequence[Any]]:
        try:
            found: Mapping[TopicPartition, Sequence[Any]]
            found = await self._consumer.getmany(timeout_ms=POLL_MS)
        except NoOffsetForPartitionError as error:  # nobody read it before
            await self._consumer.seek_to_beginning(error.args[0])
            return {}
        except OffsetOutOfRangeError as error:
            await self._pass_over(error.args[0])
            return {}
        return found

    async def _pass_over(self, lost: Mapping[TopicPartition, int]) -> None:
        """Go on with the oldest that there is; count and tell what was removed unread."""
        oldest = await self._consumer.beginning_offsets(list(lost))
        for where, wanted in lost.items():
            self._consumer.seek(where, oldest[where])
            missed = max(0, oldest[where] - wanted)
            self.counters["fault:missed_records"] += 1
            self.counters["missed_records"] += missed
            LOG.error(
                "%s/%d: %d cases from offset %d on were removed before the judge read them, and "
                "keep their verdicts; raise kafka.retention_s, or start judges sooner",
                where.topic,
                where.partition,
                missed,
                wanted,
            )

    async def _queue(self, record: Any) -> None:
        try:
            envelope = self._inbox.take(record.value)
            if envelope is None:
                return
            found = unpacked(envelope.body, Case)
        except StateError as error:
            place = f"{record.topic}/{record.partition}/{record.offset}"
            LOG.error("judge case %s passed over: %s", place, error)  # noqa: TRY400
            self.counters["rejected:malformed"] += 1
            return
        with self._database.transaction():
            dropped = self._book.wait(found.case, self._clock())
            self._state[HOME + found.case.conversation_id] = b"%d" % found.home
        for case in dropped:
            sample = msgspec.structs.replace(case.sample or Sample(1.0, ""), skipped="queue_full")
            await self._send_home(case, Opinions(sample, ()))
            with self._database.transaction():
                self._state.pop(HOME + case.conversation_id, None)
