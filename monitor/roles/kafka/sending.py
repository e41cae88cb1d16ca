"""Sends outputs and state, and reads state; all with one idempotent producer."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError

from monitor.errors import BackendUnavailable
from monitor.roles.kafka.dead_letters import DeadLetter
from monitor.roles.kafka.names import Names
from monitor.roles.kafka.outputs import Output
from monitor.roles.kafka.state import Change, PartitionState, change_of, step_header

LOAD_WAIT_MS: Final = 200
CLOSE_S: Final = 3.0


class KafkaSending:
    """Keeps the promises of all lanes of one worker."""

    def __init__(
        self,
        producer: AIOKafkaProducer,
        reader: Callable[[], AIOKafkaConsumer],
        names: Names,
        give_up_s: float,
    ) -> None:
        self._producer = producer
        self._reader = reader
        self._names = names
        self._give_up_s = give_up_s
        self._ends: dict[tuple[str, int], int] = {}
        """Of each state, where its topic ended when this worker last read or wrote it."""
        self.sent = 0
        self.sent_bytes = 0
        self.trouble: str | None = None
        """Why the last records were not taken; None when they were."""

    async def start(self) -> None:
        """Raises BackendUnavailable when no broker answers."""
        try:
            await self._producer.start()
        except Exception as error:
            raise BackendUnavailable(f"no broker answers: {type(error).__name__}") from error

    async def stop(self) -> None:
        """Let the producer go; what the brokers do not take by then nobody was promised."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await self._producer.stop()

    async def send(self, outputs: Sequence[Output]) -> None:
        """Return when all are acknowledged. Raises BackendUnavailable."""
        await self._all(outputs)

    async def keep(self, topic: str, partition: int, state: PartitionState) -> None:
        """Write a step's changes. Raises BackendUnavailable."""
        where = self._names.state(topic)
        kept = await self._all(
            [
                Output(
                    where,
                    partition,
                    c.key.encode("utf-8", "surrogatepass"),
                    c.value,
                    (step_header(c.step),),
                )
                for c in state.changes()
            ]
        )

        self._ends[topic, partition] = kept[-1] + 1

    async def require_own(self, topic: str, partition: int) -> None:
        """Raise BackendUnavailable when another worker has gone on with the partition.

        After a long pause the group may have given it away without this process knowing.
        """
        where = TopicPartition(self._names.state(topic), partition)
        consumer = self._reader()
        await consumer.start()
        try:
            end = (await consumer.end_offsets([where]))[where]
        finally:
            await consumer.stop()
        if end != self._ends.get((topic, partition)):
            raise BackendUnavailable(
                f"another worker has taken {topic}/{partition} over while this one was held up"
            )

    async def load(self, topic: str, partition: int, state: PartitionState) -> list[DeadLetter]:
        """Read all that was written of a partition's state; the records there that are not ours."""
        where = TopicPartition(self._names.state(topic), partition)
        consumer = self._reader()
        await consumer.start()
        try:
            consumer.assign([where])
            end = (await consumer.end_offsets([where]))[where]
            await consumer.seek_to_beginning(where)
            changes: list[Change] = []
            foreign: list[DeadLetter] = []
            while await consumer.position(where) < end:
                found = await consumer.getmany(where, timeout_ms=LOAD_WAIT_MS)
                for record in found.get(where, []):
                    change = change_of(record.key, record.value, record.headers)
                    if change is None:
                        foreign.append(_foreign(where, record))
                    else:
                        changes.append(change)
            state.load(changes)
            self._ends[topic, partition] = end
            return foreign
        finally:
            await consumer.stop()

    async def _all(self, outputs: Sequence[Output]) -> list[int]:
        """Their offsets, once all are acknowledged."""
        began = time.monotonic()
        try:
            # One deadline: without metadata the producer waits for them before it takes a record.
            async with asyncio.timeout(self._give_up_s):
                waiting = [await self._handed_over(output) for output in outputs]
                offsets = [record.offset for record in await asyncio.gather(*waiting)]
        # AssertionError: aiokafka's word for a partition that is not there.
        except (KafkaError, TimeoutError, AssertionError) as error:
            waited = time.monotonic() - began
            self.trouble = (
                f"the broker did not take {len(outputs)} records in {waited:.0f} s: "
                f"{type(error).__name__}"
            )
            raise BackendUnavailable(self.trouble) from error
        self.trouble = None
        return offsets

    async def _handed_over(self, output: Output) -> asyncio.Future[Any]:
        self.sent += 1
        self.sent_bytes += len(output.value or b"")
        handed: asyncio.Future[Any] = await self._producer.send(
            output.topic,
            output.value,
            key=output.key,
            partition=output.partition,
            headers=list(output.headers),
        )
        # It may fail when nobody waits for it any more.
        handed.add_done_callback(lambda done: done.cancelled() or done.exception())
        return handed


def _foreign(where: TopicPartition, record: Any) -> DeadLetter:
    return DeadLetter(
        where.topic,
        where.partition,
        record.offset,
        record.timestamp / 1000,
        "DamagedState: a record among the state that no worker wrote",
        record.key,
        None,
        len(record.value or b""),
    )
