"""Reads a topic from a place to what was its end, for commands that look back."""

from __future__ import annotations

import contextlib
import heapq
import logging
import time
from collections.abc import Generator, Iterator
from typing import Any, Final, NamedTuple

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from monitor.config.kafka import KafkaSettings
from monitor.errors import BackendUnavailable, InvalidInput
from monitor.roles.kafka.clients import connection
from monitor.roles.kafka.probing import BOOTSTRAP_MS, unreachable

LOG = logging.getLogger("agent_monitor")
POLL_MS: Final = 500
POLL_RECORDS: Final = 200
SILENT_S: Final = 60.0


class Since(NamedTuple):
    """Where to begin: at an offset, or at the first record of a time; else with the oldest."""

    offset: int | None = None
    at_s: float | None = None
    partition: int | None = None
    """Only this one; None: all."""


EVERYTHING: Final = Since()


class Record(NamedTuple):
    """One record; they order by the time that their sender gave them."""

    at_s: float
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


def records(
    given: KafkaSettings, topic: str, since: Since = EVERYTHING
) -> Generator[Record, None, None]:
    """Each record until the topic's end as it is now, merged over its partitions by time.

    Nothing is committed, so no group is moved by it. Who may stop early closes it, for a reader
    that is left to the garbage collector never ends. Raises BackendUnavailable, and InvalidInput
    for a partition that there is not.
    """
    try:
        with contextlib.ExitStack() as opened:
            parts = [
                opened.enter_context(
                    contextlib.closing(_partition(given, TopicPartition(topic, number), since))
                )
                for number in _partitions(given, topic, since.partition)
            ]
            yield from heapq.merge(*parts, key=lambda each: each[:3])
    except KafkaError as error:
        raise _unavailable(topic, error) from error


def record_at(given: KafkaSettings, topic: str, partition: int, offset: int) -> Record | None:
    """The record at a place; None when the topic has it no longer."""
    where = TopicPartition(topic, partition)
    try:
        with _consumer(given) as consumer:
            consumer.assign([where])
            oldest, end = consumer.beginning_offsets([where]), consumer.end_offsets([where])
            if not oldest[where] <= offset < end[where]:
                return None
            consumer.seek(where, offset)
            found = next(_polled(consumer, where, offset + 1), None)
    except KafkaError as error:
        raise _unavailable(topic, error) from error
    return found if found is not None and found.offset == offset else None


def _partitions(given: KafkaSettings, topic: str, only: int | None) -> list[int]:
    with _consumer(given) as consumer:
        found = sorted(consumer.partitions_for_topic(topic) or ())
    if not found:
        raise BackendUnavailable(f"topic {topic} is not there; `agent-monitor topics` makes it")
    if only is None:
        return found
    if only not in found:
        raise InvalidInput(f"topic {topic} has partitions 0 to {found[-1]}, and no {only}")
    return [only]


def _partition(
    given: KafkaSettings, where: TopicPartition, since: Since
) -> Generator[Record, None, None]:
    with _consumer(given) as consumer:
        consumer.assign([where])
        end = consumer.end_offsets([where])[where]
        begin = consumer.beginning_offsets([where])[where]
        if since.offset is not None:
            if since.offset < begin:
                name = f"{where.topic}/{where.partition}"
                LOG.warning("%s begins at offset %d; what was before is gone", name, begin)
            begin = max(begin, since.offset)
        elif since.at_s is not None:
            found = consumer.offsets_for_times({where: round(since.at_s * 1000)})[where]
            begin = end if found is None else max(begin, found.offset)
        if begin < end:
            consumer.seek(where, begin)
            yield from _polled(consumer, where, end)


def _polled(consumer: Any, where: TopicPartition, end: int) -> Iterator[Record]:
    moved_s, place = time.monotonic(), consumer.position(where)
    while place < end:
        for found in consumer.poll(timeout_ms=POLL_MS).get(where, ()):
            if found.offset >= end:
                return
            at_s = found.timestamp / 1000
            yield Record(at_s, where.partition, found.offset, found.key, found.value)
        if consumer.position(where) > place:
            moved_s, place = time.monotonic(), consumer.position(where)
        elif time.monotonic() - moved_s > SILENT_S:
            silent = f"{where.topic}/{where.partition} gave nothing for {SILENT_S:.0f} s"
            raise BackendUnavailable(f"{silent}, at offset {place} of {end}")


@contextlib.contextmanager
def _consumer(given: KafkaSettings) -> Iterator[Any]:
    try:
        consumer = _connected(given)
    except KafkaError as error:
        raise unreachable(given, error) from error
    try:
        yield consumer
    finally:
        consumer.close()


def _connected(given: KafkaSettings) -> Any:
    return KafkaConsumer(
        **connection(given),
        bootstrap_timeout_ms=BOOTSTRAP_MS,
        enable_auto_commit=False,
        auto_offset_reset="none",  # what goes while it is read must not be passed over in silence
        max_poll_records=POLL_RECORDS,
    )


def _unavailable(topic: str, error: KafkaError) -> BackendUnavailable:
    return BackendUnavailable(f"{topic} cannot be read: {type(error).__name__}")
