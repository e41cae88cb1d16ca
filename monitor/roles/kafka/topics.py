"""Creates the topics between the roles, and checks those that are there."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewTopic
from kafka.errors import KafkaError, TopicAlreadyExistsError

from monitor.config.kafka import KafkaSettings
from monitor.errors import BackendUnavailable, ConfigurationError, MonitorError
from monitor.roles.kafka.clients import connection
from monitor.roles.kafka.names import STATE_KEEP_S, Names
from monitor.roles.kafka.probing import BOOTSTRAP_MS, unreachable

MESSAGE_BYTES: Final = 1_048_588
"""What brokers take by default; our records are smaller."""
COMPARED: Final = (
    *("cleanup.policy", "retention.ms", "min.compaction.lag.ms"),
    *("max.message.bytes", "compression.type"),
)
AT_LEAST: Final = ("retention.ms", "min.compaction.lag.ms", "max.message.bytes")
"""Of these more is as good, and -1 is without end."""


class Wanted(NamedTuple):
    """One topic as it should be."""

    name: str
    partitions: int
    config: dict[str, str]
    ours: bool = True
    """Whether its partitions must be as many as we say."""


def wanted(given: KafkaSettings) -> list[Wanted]:
    """All topics, those of the stages' state among them."""
    names = Names(given.source, given.prefix)
    # Our records are compressed already, so the brokers shall not do it again.
    every = {"max.message.bytes": str(MESSAGE_BYTES), "compression.type": "producer"}
    kept = {
        **every,
        "cleanup.policy": "delete",
        "retention.ms": str(round(given.retention_s * 1000)),
    }
    state = {
        **every,
        "cleanup.policy": "compact",
        "min.compaction.lag.ms": str(round(STATE_KEEP_S * 1000)),
        "segment.bytes": str(64 * 1024 * 1024),
        "min.cleanable.dirty.ratio": "0.3",
    }
    between = [names.traces, names.conversations, names.reports, names.cases]
    return [
        Wanted(given.source, given.source_partitions, kept, ours=False),
        *(Wanted(name, given.partitions, kept) for name in between),
        Wanted(names.dead_letters, 1, {**kept, "retention.ms": "-1"}),
        Wanted(names.state(names.traces), given.partitions, state),
        Wanted(names.state(names.conversations), given.partitions, state),
    ]


def ensure(given: KafkaSettings, *, create: bool) -> Iterator[str]:
    """Create what is missing, unless only looking; a line about each topic.

    Raises ConfigurationError for a topic that is missing or other than it should be,
    BackendUnavailable when no broker answers.
    """
    with asking(given) as admin:
        there = _partitions(admin)
        kept = _configs(admin, [topic for topic in wanted(given) if topic.name in there])
        for topic in wanted(given):
            yield _ensured(admin, topic, there.get(topic.name), given.replication, create=create)
            if topic.ours and (fault := _kept_otherwise(topic, kept.get(topic.name, {}))):
                raise ConfigurationError(fault)


def require(given: KafkaSettings, needed: Collection[str]) -> None:
    """Raise MonitorError unless these topics are there and as they should be.

    Not as a fault of the settings: a supervisor may try again, for they may come later.
    """
    with asking(given) as admin:
        fault = misfit(given, _partitions(admin), needed)
    if fault:
        raise MonitorError(fault)


def misfit(given: KafkaSettings, there: Mapping[str, int], needed: Collection[str]) -> str | None:
    """What is wrong with the first of these topics that is not as it should be; None: all fit."""
    for topic in wanted(given):
        if topic.name in needed:
            partitions = there.get(topic.name)
            if partitions is None:
                return f"topic {topic.name} is not there; `agent-monitor topics` makes it"
            if topic.ours and partitions != topic.partitions:
                return _other(topic, partitions)
    return None


@contextlib.contextmanager
def asking(given: KafkaSettings) -> Iterator[KafkaAdminClient]:
    """Raises BackendUnavailable that tells why no broker can be used."""
    where = ", ".join(given.bootstrap)
    try:
        admin = KafkaAdminClient(**connection(given), bootstrap_timeout_ms=BOOTSTRAP_MS)
    except KafkaError as error:
        raise unreachable(given, error) from error
    try:
        yield admin
    except KafkaError as error:
        raise BackendUnavailable(f"the brokers at {where} refuse: {error}") from error
    finally:
        admin.close()


def _ensured(
    admin: Any, topic: Wanted, partitions: int | None, replication: int, *, create: bool
) -> str:
    if partitions is None and not create:
        raise ConfigurationError(f"topic {topic.name} is missing; `agent-monitor topics` makes it")
    if partitions is None:
        new = NewTopic(
            name=topic.name,
            num_partitions=topic.partitions,
            replication_factor=replication,
            topic_configs=topic.config,
        )
        try:
            admin.create_topics([new])
        except TopicAlreadyExistsError:
            return f"{topic.name}: made by another just now"
        return f"{topic.name}: made with {topic.partitions} partitions"
    if topic.ours and partitions != topic.partitions:
        raise ConfigurationError(_other(topic, partitions))
    return f"{topic.name}: there, {partitions} partitions"


def _other(topic: Wanted, partitions: int) -> str:
    return (
        f"topic {topic.name} has {partitions} partitions, kafka.partitions says "
        f"{topic.partitions}; a key's home depends on it, so neither may change while there "
        "is state (deploy/kafka-operations.md, Rescaling, tells how to)"
    )


def _kept_otherwise(topic: Wanted, found: Mapping[str, str | None]) -> str | None:
    """The first setting that would lose what we need, or work for nothing; None: there is none."""
    for name in COMPARED:
        wanted, there = topic.config.get(name), found.get(name)
        if wanted is None or there is None or there == wanted:
            continue
        if name in AT_LEAST and (there == "-1" or (wanted != "-1" and int(there) > int(wanted))):
            continue
        least = "at least " if name in AT_LEAST else ""
        return (
            f"topic {topic.name} has {name} = {there}, and needs {least}{wanted}: "
            f"`kafka-configs.sh --alter --topic {topic.name} --add-config {name}={wanted}`"
        )
    return None


def _configs(admin: Any, topics: Collection[Wanted]) -> dict[str, dict[str, str | None]]:
    """What is in force for each, the brokers' own defaults among it."""
    asked = [ConfigResource(ConfigResourceType.TOPIC, topic.name) for topic in topics]
    found = admin.describe_configs(asked, config_filter="all")["topic"] if asked else {}
    return {
        topic: {name: each["value"] for name, each in configs.items()}
        for topic, configs in found.items()
    }


def _partitions(admin: Any) -> dict[str, int]:
    described = admin.describe_topics()
    topics = described["topics"] if isinstance(described, dict) else described
    return {each["name"]: len(each["partitions"]) for each in topics}
