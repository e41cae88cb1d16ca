"""Closes all that is open, stage by stage, once every stage has worked off what was there."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from monitor.config.kafka import KafkaSettings
from monitor.errors import BackendUnavailable
from monitor.roles.kafka.clients import connection
from monitor.roles.kafka.lags import GroupLags
from monitor.roles.kafka.names import Names
from monitor.roles.kafka.records import Envelope, written

LOOK_S: Final = 0.2


def flush(
    given: KafkaSettings,
    wait_s: float,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Return when all that was in the topics is in the reports topic, closed.

    Workers must be running, and nothing more may come. Raises BackendUnavailable when it takes
    longer than `wait_s`.
    """
    names = Names(given.source, given.prefix)
    topics = [names.source, names.traces, names.conversations]
    try:
        admin = KafkaAdminClient(**connection(given))
        producer = KafkaProducer(**connection(given), acks="all")
        lags = GroupLags(given, {names.workers: topics})
        last = clock() + wait_s
        for topic in topics:
            if topic != names.source:
                for partition in range(given.partitions):
                    value = written(Envelope("flush", clock()))
                    producer.send(topic, value, b"flush", partition=partition)
                producer.flush()
            while any(lags.look(admin).values()):
                if clock() > last:
                    raise BackendUnavailable(f"the workers are not through after {wait_s:.0f} s")
                sleep(LOOK_S)
        producer.close()
        admin.close()
    except KafkaError as error:
        raise BackendUnavailable(f"the broker failed: {type(error).__name__}") from error
